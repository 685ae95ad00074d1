package schemas

import (
	"maps"
	"slices"
)

// Event types, as they stand in a CloudEvent's type attribute.
const (
	TypeMetricsObserved   = "dev.spokewire.metrics.observed.v1"
	TypeScoreComputed     = "dev.spokewire.score.computed.v1"
	TypePlacementDecided  = "dev.spokewire.placement.decided.v1"
	TypeReceiptRecorded   = "dev.spokewire.receipt.recorded.v1"
	TypeDeadLetterWritten = "dev.spokewire.dead.written.v1"
	TypeDeadLetterDropped = "dev.spokewire.dead.dropped.v1"

	// Questions about decisions, and their answers. They are requests and
	// replies, in no stream.
	TypeExplainAsked    = "dev.spokewire.explain.asked.v1"
	TypeExplainAnswered = "dev.spokewire.explain.answered.v1"
	TypeWhatIfAsked     = "dev.spokewire.whatif.asked.v1"
	TypeWhatIfAnswered  = "dev.spokewire.whatif.answered.v1"
	TypeReplayAsked     = "dev.spokewire.replay.asked.v1"
	TypeReplayAnswered  = "dev.spokewire.replay.answered.v1"
	TypeAuditAsked      = "dev.spokewire.audit.asked.v1"
	TypeAuditAnswered   = "dev.spokewire.audit.answered.v1"

	// What the bridge observes on the hub (SW_HUB).
	TypeHubCluster           = "dev.spokewire.hub.cluster.observed.v1"
	TypeHubClusterSet        = "dev.spokewire.hub.clusterset.observed.v1"
	TypeHubBinding           = "dev.spokewire.hub.binding.observed.v1"
	TypeHubPlacement         = "dev.spokewire.hub.placement.observed.v1"
	TypeHubAddOnScore        = "dev.spokewire.hub.addonscore.observed.v1"
	TypeHubPlacementDecision = "dev.spokewire.hub.placementdecision.observed.v1"
	TypeHubDynamicScorer     = "dev.spokewire.hub.dynamicscorer.observed.v1"
	TypeHubScoringConfig     = "dev.spokewire.hub.dynamicscoringconfig.observed.v1"

	// What users ask for over the bus (SW_CONFIG).
	TypeConfigScorer    = "dev.spokewire.config.scorer.requested.v1"
	TypeConfigPlacement = "dev.spokewire.config.placement.requested.v1"
	TypeConfigPolicy    = "dev.spokewire.config.placementpolicy.requested.v1"
	TypeConfigCordon    = "dev.spokewire.config.cordon.requested.v1"
	TypeConfigRebalance = "dev.spokewire.config.rebalance.requested.v1"

	TypeConfigDynamicScorer = "dev.spokewire.config.dynamicscorer.requested.v1"
	TypeConfigScoringConfig = "dev.spokewire.config.dynamicscoringconfig.requested.v1"

	// What the scorer says of scorers that it asks over HTTP (SW_STATUS).
	TypeStatusDynamicScorer = "dev.spokewire.status.dynamicscorer.reported.v1"

	// Tombstones. The payload of each is Deleted.
	TypeHubClusterDeleted           = "dev.spokewire.hub.cluster.deleted.v1"
	TypeHubClusterSetDeleted        = "dev.spokewire.hub.clusterset.deleted.v1"
	TypeHubBindingDeleted           = "dev.spokewire.hub.binding.deleted.v1"
	TypeHubPlacementDeleted         = "dev.spokewire.hub.placement.deleted.v1"
	TypeHubAddOnScoreDeleted        = "dev.spokewire.hub.addonscore.deleted.v1"
	TypeHubPlacementDecisionDeleted = "dev.spokewire.hub.placementdecision.deleted.v1"
	TypeHubDynamicScorerDeleted     = "dev.spokewire.hub.dynamicscorer.deleted.v1"
	TypeHubScoringConfigDeleted     = "dev.spokewire.hub.dynamicscoringconfig.deleted.v1"
	TypeConfigScorerDeleted         = "dev.spokewire.config.scorer.deleted.v1"
	TypeConfigPlacementDeleted      = "dev.spokewire.config.placement.deleted.v1"
	TypeConfigPolicyDeleted         = "dev.spokewire.config.placementpolicy.deleted.v1"
	TypeConfigCordonDeleted         = "dev.spokewire.config.cordon.deleted.v1"
	TypeConfigDynamicScorerDeleted  = "dev.spokewire.config.dynamicscorer.deleted.v1"
	TypeConfigScoringConfigDeleted  = "dev.spokewire.config.dynamicscoringconfig.deleted.v1"
	TypeStatusDynamicScorerDeleted  = "dev.spokewire.status.dynamicscorer.deleted.v1"
	TypeScoreDeleted                = "dev.spokewire.score.deleted.v1"
	TypePlacementDecisionDeleted    = "dev.spokewire.placement.deleted.v1"
)

// types maps each event type to a constructor of its payload.
var types = map[string]func() Payload{
	TypeMetricsObserved:      func() Payload { return new(Metrics) },
	TypeScoreComputed:        func() Payload { return new(Score) },
	TypePlacementDecided:     func() Payload { return new(PlacementDecision) },
	TypeReceiptRecorded:      func() Payload { return new(Receipt) },
	TypeDeadLetterWritten:    func() Payload { return new(DeadLetter) },
	TypeDeadLetterDropped:    func() Payload { return new(DeadDropped) },
	TypeExplainAsked:         func() Payload { return new(ExplainAsk) },
	TypeExplainAnswered:      func() Payload { return new(ExplainAnswer) },
	TypeWhatIfAsked:          func() Payload { return new(WhatIfAsk) },
	TypeWhatIfAnswered:       func() Payload { return new(WhatIfAnswer) },
	TypeReplayAsked:          func() Payload { return new(ReplayAsk) },
	TypeReplayAnswered:       func() Payload { return new(ReplayAnswer) },
	TypeAuditAsked:           func() Payload { return new(AuditAsk) },
	TypeAuditAnswered:        func() Payload { return new(AuditAnswer) },
	TypeHubCluster:           func() Payload { return new(Cluster) },
	TypeHubClusterSet:        func() Payload { return new(ClusterSet) },
	TypeHubBinding:           func() Payload { return new(Binding) },
	TypeHubPlacement:         func() Payload { return new(Placement) },
	TypeHubAddOnScore:        func() Payload { return new(AddOnScore) },
	TypeHubPlacementDecision: func() Payload { return new(ObservedDecision) },
	TypeConfigScorer:         func() Payload { return new(Scorer) },
	TypeConfigPlacement:      func() Payload { return new(PlacementRequest) },
	TypeConfigPolicy:         func() Payload { return new(PlacementPolicy) },
	TypeConfigCordon:         func() Payload { return new(Cordon) },
	TypeConfigRebalance:      func() Payload { return new(Rebalance) },
	TypeHubDynamicScorer:     func() Payload { return new(DynamicScorer) },
	TypeHubScoringConfig:     func() Payload { return new(DynamicScoringConfig) },
	TypeConfigDynamicScorer:  func() Payload { return new(DynamicScorerRequest) },
	TypeConfigScoringConfig:  func() Payload { return new(DynamicScoringConfigRequest) },
	TypeStatusDynamicScorer:  func() Payload { return new(ScorerStatus) },

	TypeHubClusterDeleted:           newDeleted,
	TypeHubClusterSetDeleted:        newDeleted,
	TypeHubBindingDeleted:           newDeleted,
	TypeHubPlacementDeleted:         newDeleted,
	TypeHubAddOnScoreDeleted:        newDeleted,
	TypeHubPlacementDecisionDeleted: newDeleted,
	TypeHubDynamicScorerDeleted:     newDeleted,
	TypeHubScoringConfigDeleted:     newDeleted,
	TypeConfigScorerDeleted:         newDeleted,
	TypeConfigPlacementDeleted:      newDeleted,
	TypeConfigPolicyDeleted:         newDeleted,
	TypeConfigCordonDeleted:         newDeleted,
	TypeConfigDynamicScorerDeleted:  newDeleted,
	TypeConfigScoringConfigDeleted:  newDeleted,
	TypeStatusDynamicScorerDeleted:  newDeleted,
	TypeScoreDeleted:                newDeleted,
	TypePlacementDecisionDeleted:    newDeleted,
}

func newDeleted() Payload { return new(Deleted) }

// Types returns every event type that this version knows, sorted.
func Types() []string { return slices.Sorted(maps.Keys(types)) }

// IsDeleted reports whether eventType is a tombstone: the last event of a
// subject whose object is gone.
func IsDeleted(eventType string) bool {
	newPayload, ok := types[eventType]
	if !ok {
		return false
	}
	_, deleted := newPayload().(*Deleted)
	return deleted
}
