package main

import (
	"math"

	"github.com/spokewire/spokewire/pkg/schemas"
)

type object = map[string]any

// Patterns. They are written for both Go's and ECMAScript's expressions.
const (
	metricName = `^[a-zA-Z_:][a-zA-Z0-9_:.]*$`
	labelName  = `^[^\x00-\x1f]+$`
	someDigit  = `[1-9]`
	timestamp  = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`
	duration   = `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`
	base64     = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`
)

var (
	notEmpty = object{"minLength": 1}
	finite   = object{"minimum": -math.MaxFloat64, "maximum": math.MaxFloat64}
	score    = object{"minimum": schemas.MinScore, "maximum": schemas.MaxScore}
	note     = object{"maxLength": schemas.MaxNote}
	byLabel  = object{"pattern": labelName, "maxLength": schemas.MaxLabelNameLength}
	byLimit  = object{"minimum": 0, "maximum": schemas.MaxScoreItems}

	// What OCM's resource definition checks; what stands on the hub passed it.
	dynamicSpec = object{"properties": object{
		"description":          object{"maxLength": schemas.MaxDynamicText},
		"configURL":            object{"minLength": 1, "maxLength": schemas.MaxDynamicText},
		"configSyncMode":       object{"enum": []string{schemas.SyncFull, schemas.SyncNone}},
		"location":             object{"enum": []string{schemas.LocationInternal, schemas.LocationExternal, ""}},
		"scoreDestination":     object{"enum": []string{schemas.DestinationAddOnScore, schemas.DestinationNone, ""}},
		"scoreDimensionFormat": object{"maxLength": schemas.MaxDynamicText},
	}}

	cordonState = object{"enum": []string{schemas.CordonCordoned, schemas.CordonDraining, schemas.CordonLifted}}
)

// fieldRules are the bounds of single fields, by TYPE.field. The test in
// pkg/schemas shows that they are those of the Validate methods.
var fieldRules = map[string]object{
	"Metrics.samples": {"maxItems": schemas.MaxSamples},
	"Sample.name":     {"pattern": metricName, "maxLength": schemas.MaxNameLength},
	"Sample.value":    finite,
	"Sample.labels": {
		"maxProperties":        schemas.MaxLabels,
		"propertyNames":        object{"pattern": labelName, "maxLength": schemas.MaxLabelNameLength},
		"additionalProperties": object{"type": "string", "maxLength": schemas.MaxLabelLength},
	},
	"Sample.unit": {"maxLength": schemas.MaxNameLength},

	"Score.cluster":    notEmpty,
	"Score.scorer":     notEmpty,
	"Score.items":      {"minItems": 1, "maxItems": schemas.MaxScoreItems},
	"ScoreItem.name":   notEmpty,
	"ScoreItem.value":  score,
	"ScoreItem.raw":    finite,
	"ScoreItem.reason": notEmpty,

	"PlacementRef.namespace":      notEmpty,
	"PlacementRef.name":           notEmpty,
	"PlacementRef.uid":            notEmpty,
	"PlacementDecision.mode":      {"enum": []string{schemas.ModeDirect, schemas.ModeNative, schemas.ModeShadow}},
	"PlacementDecision.scheduler": notEmpty,
	"PlacementDecision.cause":     notEmpty,
	"PlacementDecision.now":       {"not": object{"const": "0001-01-01T00:00:00Z"}},
	"SelectedCluster.name":        notEmpty,

	"ExplainAsk.namespace":  notEmpty,
	"ExplainAsk.name":       notEmpty,
	"ExplainAsk.cluster":    notEmpty,
	"ReplayAsk.namespace":   notEmpty,
	"ReplayAsk.name":        notEmpty,
	"AuditAsk.from":         {"not": object{"const": "0001-01-01T00:00:00Z"}},
	"DecisionRef.namespace": notEmpty,
	"DecisionRef.name":      notEmpty,
	"ReplayAnswer.verdict":  {"enum": []string{schemas.ReplayEqual, schemas.ReplayDifferent, schemas.ReplayExpired, schemas.ReplayNotOurs}},

	"WhatIfAsk.namespace":   notEmpty,
	"WhatIfAsk.name":        notEmpty,
	"WhatIfAsk.remove":      {"maxItems": schemas.MaxHypotheses, "items": object{"type": "string", "minLength": 1}},
	"WhatIfAsk.add":         {"maxItems": schemas.MaxHypotheses},
	"WhatIfAsk.untaint":     {"maxItems": schemas.MaxHypotheses},
	"WhatIfAsk.taint":       {"maxItems": schemas.MaxHypotheses},
	"WhatIfAsk.cordon":      {"maxItems": schemas.MaxHypotheses},
	"WhatIfCordon.cluster":  notEmpty,
	"WhatIfCordon.state":    cordonState,
	"WhatIfAsk.metrics":     {"maxItems": schemas.MaxHypotheses},
	"WhatIfAsk.scores":      {"maxItems": schemas.MaxHypotheses},
	"WhatIfUntaint.cluster": notEmpty,
	"WhatIfTaint.cluster":   notEmpty,
	"WhatIfMetric.cluster":  notEmpty,
	"WhatIfMetric.name":     {"pattern": metricName, "maxLength": schemas.MaxNameLength},
	"WhatIfMetric.value":    finite,
	"WhatIfMetric.labels": {
		"maxProperties":        schemas.MaxLabels,
		"propertyNames":        object{"pattern": labelName, "maxLength": schemas.MaxLabelNameLength},
		"additionalProperties": object{"type": "string", "maxLength": schemas.MaxLabelLength},
	},
	"WhatIfScore.cluster": notEmpty,
	"WhatIfScore.scorer":  notEmpty,
	"WhatIfScore.value":   score,

	"Receipt.subject": notEmpty,
	"Receipt.id":      notEmpty,
	"Receipt.outcome": {"enum": []string{
		schemas.OutcomeApplied, schemas.OutcomeUnchanged, schemas.OutcomeSuperseded, schemas.OutcomeRefused,
	}},
	"Receipt.lagMillis":       finite,
	"Receipt.originLagMillis": finite,

	"DeadLetter.service": notEmpty,
	"DeadLetter.subject": notEmpty,
	"DeadLetter.reason":  notEmpty,
	"DeadLetter.message": notEmpty,
	"DeadLetter.body":    {"maxLength": (schemas.MaxDeadBody + 2) / 3 * 4},

	"DeadDropped.letters":   {"minItems": 1, "maxItems": schemas.MaxDropped},
	"DroppedLetter.service": notEmpty,
	"DroppedLetter.stream":  notEmpty,

	"Cluster.name":            notEmpty,
	"Taint.key":               notEmpty,
	"Taint.effect":            notEmpty,
	"ClusterSet.name":         notEmpty,
	"ClusterSet.selectorType": notEmpty,
	"Binding.name":            notEmpty,
	"Binding.namespace":       notEmpty,
	"Binding.clusterSet":      notEmpty,
	"Placement.name":          notEmpty,
	"Placement.namespace":     notEmpty,
	"Placement.uid":           notEmpty,
	"AddOnScore.cluster":      notEmpty,
	"AddOnScore.name":         notEmpty,
	"AddOnScore.scores":       {"additionalProperties": object{"type": "integer", "minimum": schemas.MinScore, "maximum": schemas.MaxScore}},
	"ObservedCluster.name":    notEmpty,
	"Deleted.name":            notEmpty,

	"Metadata.name":                    notEmpty,
	"Scorer.apiVersion":                {"const": schemas.ScorerAPIVersion},
	"Scorer.kind":                      {"const": schemas.ScorerKind},
	"ScorerSpec.cel":                   notEmpty,
	"ScorerSpec.items":                 {"minItems": 1, "maxItems": schemas.MaxScoreItems},
	"ScorerSpec.validFor":              {"allOf": []object{{"pattern": someDigit}}},
	"ScorerSpec.by":                    byLabel,
	"ScorerSpec.limit":                 byLimit,
	"ScorerItem.by":                    byLabel,
	"ScorerItem.limit":                 byLimit,
	"ScorerItem.name":                  notEmpty,
	"ScorerItem.cel":                   notEmpty,
	"PlacementRequest.apiVersion":      {"const": schemas.PlacementAPIVersion},
	"PlacementRequest.kind":            {"const": schemas.PlacementKind},
	"PlacementPolicy.apiVersion":       {"const": schemas.PlacementPolicyAPIVersion},
	"PlacementPolicy.kind":             {"const": schemas.PlacementPolicyKind},
	"PlacementPolicy.metadata":         {"properties": object{"name": object{"const": schemas.DefaultPolicyName}}},
	"PlacementPolicySpec.deadBand":     {"minimum": 0, "maximum": schemas.MaxLead},
	"PlacementPolicySpec.decisiveLead": {"minimum": 0, "maximum": schemas.MaxLead},
	"PlacementPolicySpec.stalePolicy":  {"enum": []string{"hold", "exclude", "worst", "zero", ""}},
	"Cordon.apiVersion":                {"const": schemas.CordonAPIVersion},
	"Cordon.kind":                      {"const": schemas.CordonKind},
	"CordonSpec.state":                 cordonState,
	"CordonSpec.by":                    note,
	"CordonSpec.reason":                note,
	"Rebalance.apiVersion":             {"const": schemas.RebalanceAPIVersion},
	"Rebalance.kind":                   {"const": schemas.RebalanceKind},
	"Rebalance.metadata":               {"required": []string{"namespace"}, "properties": object{"namespace": notEmpty}},
	"RebalanceSpec.id":                 {"minLength": 1, "maxLength": schemas.MaxNote},
	"RebalanceSpec.validFor":           {"allOf": []object{{"pattern": someDigit}}},
	"RebalanceSpec.by":                 note,
	"RebalanceSpec.reason":             note,
	"Rebalancing.id":                   notEmpty,
	"Rebalancing.remaining":            {"minimum": 0},
	"ChangeBudget.moves":               {"minimum": 0, "maximum": schemas.MaxBudget},
	"Flap.moves":                       {"maxItems": schemas.MaxFlapMoves},
	"Moves.count":                      {"minimum": 1},
	"Cohort.clusters":                  {"minItems": 1, "maxItems": schemas.MaxFlapClusters},
	"PlacementRequest.metadata":        {"required": []string{"namespace"}, "properties": object{"namespace": notEmpty}},

	"DynamicScorer.name":                     notEmpty,
	"DynamicScorer.namespace":                notEmpty,
	"DynamicScorer.uid":                      notEmpty,
	"DynamicScorerRequest.apiVersion":        {"const": schemas.DynamicScoringAPIVersion},
	"DynamicScorerRequest.kind":              {"const": schemas.DynamicScorerKind},
	"DynamicScorerRequest.metadata":          {"required": []string{"namespace"}, "properties": object{"namespace": notEmpty}},
	"DynamicScorerRequest.spec":              dynamicSpec,
	"DynamicScoringConfig.name":              notEmpty,
	"DynamicScoringConfig.namespace":         notEmpty,
	"DynamicScoringConfig.uid":               notEmpty,
	"DynamicScoringConfig.masks":             {"maxItems": schemas.MaxMasks},
	"DynamicScoringConfigRequest.apiVersion": {"const": schemas.DynamicScoringAPIVersion},
	"DynamicScoringConfigRequest.kind":       {"const": schemas.DynamicScoringConfigKind},
	"DynamicScoringConfigRequest.metadata": {
		"required": []string{"namespace"}, "properties": object{"namespace": notEmpty, "name": object{"const": schemas.DynamicScoringConfigName}},
	},
	"DynamicScoringConfigSpec.masks": {"maxItems": schemas.MaxMasks},
	"Mask.clusterName":               notEmpty,
	"Mask.scoreName":                 notEmpty,
	"ScorerStatus.namespace":         notEmpty,
	"ScorerStatus.name":              notEmpty,
	"ScorerStatus.holder":            notEmpty,
	"ScorerStatus.health":            {"enum": []string{schemas.HealthActive, schemas.HealthInactive, schemas.HealthUnknown}},
	"ScorerStatus.message":           {"maxLength": schemas.MaxStatusMessage},
	"ScorerStatus.clusters":          {"minimum": 0},
	"ScorerStatus.heldUntil":         {"not": object{"const": "0001-01-01T00:00:00Z"}},
}

// typeRules are the rules between the fields of a type.
var typeRules = map[string]object{
	// A score with a value expires, in one way.
	"Score": {
		"not": object{"required": []string{"validUntil", "validFor"}},
		"if":  object{"properties": object{"items": object{"contains": object{"required": []string{"value"}}}}},
		"then": object{"anyOf": []object{
			{"required": []string{"validUntil"}},
			{"required": []string{"validFor"}, "properties": object{"validFor": object{"pattern": someDigit}}},
		}},
	},
	// What only a drain has, and what a cordon that is lifted has not.
	"CordonSpec": {
		"if":   object{"properties": object{"state": object{"const": schemas.CordonLifted}}},
		"then": object{"properties": object{"until": false, "force": object{"const": false}}},
		"else": object{
			"if":   object{"properties": object{"state": object{"const": schemas.CordonCordoned}}},
			"then": object{"properties": object{"force": object{"const": false}}},
		},
	},
	"ScorerSpec": {
		"oneOf":             []object{{"required": []string{"cel"}}, {"required": []string{"items"}}},
		"dependentRequired": object{"by": []string{"cel"}, "limit": []string{"by"}},
	},
	"ScorerItem": {"dependentRequired": object{"limit": []string{"by"}}},
}
