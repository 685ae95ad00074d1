package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// WhatIfAsk asks what would be decided of a Placement now, if. Nothing is
// written. Hypotheses are taken in the order of the fields: first clusters go
// and come, then taints, cordons, metrics and scores.
type WhatIfAsk struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Placement *WhatIfPlacement `json:"placement,omitempty"`
	Remove    []string         `json:"remove,omitempty"`
	Add       []WhatIfCluster  `json:"add,omitempty"`
	Untaint   []WhatIfUntaint  `json:"untaint,omitempty"`
	Taint     []WhatIfTaint    `json:"taint,omitempty"`
	Cordon    []WhatIfCordon   `json:"cordon,omitempty"`
	// Rebalance is true for a decision as a Rebalance would have it.
	Rebalance bool           `json:"rebalance,omitempty"`
	Metrics   []WhatIfMetric `json:"metrics,omitempty"`
	Scores    []WhatIfScore  `json:"scores,omitempty"`
}

// WhatIfPlacement replaces the Placement's spec, and its annotations where
// some are given. It need not be there yet.
type WhatIfPlacement struct {
	Spec        json.RawMessage   `json:"spec"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// WhatIfCluster is a cluster that comes, or takes the place of the one of its
// name.
type WhatIfCluster struct {
	Cluster Cluster `json:"cluster"`
	// Like names a cluster whose labels, claims, resources and scores it has
	// where Cluster does not say.
	Like string `json:"like,omitempty"`
}

// WhatIfTaint puts a taint on a cluster.
type WhatIfTaint struct {
	Cluster string `json:"cluster"`
	Taint   Taint  `json:"taint"`
}

// WhatIfUntaint takes taints off a cluster: all of them, or those of a key.
type WhatIfUntaint struct {
	Cluster string `json:"cluster"`
	Key     string `json:"key,omitempty"`
}

// WhatIfCordon takes the place of a cluster's Cordon.
type WhatIfCordon struct {
	Cluster string `json:"cluster"`
	// State is cordoned, draining or lifted.
	State string `json:"state"`
	Force bool   `json:"force,omitempty"`
}

// WhatIfMetric is a sample of a cluster, in the place of what its sources say
// of the same series.
type WhatIfMetric struct {
	Cluster string            `json:"cluster"`
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels,omitempty"`
	Value   float64           `json:"value"`
}

// WhatIfScore is a score of a cluster that holds; one without a value is
// withdrawn.
type WhatIfScore struct {
	Cluster string `json:"cluster"`
	Scorer  string `json:"scorer"`
	// Item is that of a scorer with several; absent for the one that is
	// named like the scorer.
	Item  string `json:"item,omitempty"`
	Value *int32 `json:"value,omitempty"`
}

// WhatIfAnswer is the answer to a WhatIfAsk.
type WhatIfAnswer struct {
	// Today is the last decision in the log, absent where there is none.
	Today *DecisionRef `json:"today,omitempty"`
	// Decision is what would be decided. It is in no log.
	Decision PlacementDecision `json:"decision"`
	// Added and Removed are clusters against today's decision.
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	// Differences are all others from it; none, and none added or removed,
	// means that nothing would change.
	Differences []Difference `json:"differences,omitempty"`
	// Scores are those that follow from hypothetical metrics.
	Scores []WhatIfScore `json:"scores,omitempty"`
	// Basis is the stream positions of what is there today.
	Basis map[string]uint64 `json:"basis,omitempty"`
}

// Validate checks the decision.
func (a *WhatIfAnswer) Validate() error {
	if err := a.Decision.Validate(); err != nil {
		return within("decision", err)
	}
	return nil
}

// Validate checks names, values and bounds.
func (a *WhatIfAsk) Validate() error {
	if err := required("namespace", a.Namespace, "name", a.Name); err != nil {
		return err
	}
	if a.Placement != nil {
		if err := requireObject("placement.spec", a.Placement.Spec); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		field string
		n     int
	}{
		{"remove", len(a.Remove)}, {"add", len(a.Add)}, {"untaint", len(a.Untaint)},
		{"taint", len(a.Taint)}, {"cordon", len(a.Cordon)}, {"metrics", len(a.Metrics)}, {"scores", len(a.Scores)},
	} {
		if list.n > MaxHypotheses {
			return fieldErrorf(list.field, "has %d entries, at most %d are taken", list.n, MaxHypotheses)
		}
	}
	return a.validateLists()
}

func (a *WhatIfAsk) validateLists() error {
	for i, name := range a.Remove {
		if name == "" {
			return fieldErrorf(fmt.Sprintf("remove[%d]", i), "is empty")
		}
	}
	if err := a.onceEach(); err != nil {
		return err
	}
	for i := range a.Add {
		if err := a.Add[i].Cluster.Validate(); err != nil {
			return within(fmt.Sprintf("add[%d].cluster", i), err)
		}
	}
	for i, t := range a.Untaint {
		if err := required(fmt.Sprintf("untaint[%d].cluster", i), t.Cluster); err != nil {
			return err
		}
	}
	for i, t := range a.Taint {
		field := fmt.Sprintf("taint[%d].", i)
		if err := required(field+"cluster", t.Cluster, field+"taint.key", t.Taint.Key, field+"taint.effect", t.Taint.Effect); err != nil {
			return err
		}
	}
	for i, c := range a.Cordon {
		field := fmt.Sprintf("cordon[%d].", i)
		if err := required(field+"cluster", c.Cluster); err != nil {
			return err
		}
		if c.State != CordonCordoned && c.State != CordonDraining && c.State != CordonLifted {
			return fieldErrorf(field+"state", "is %q, want %s, %s or %s", c.State, CordonCordoned, CordonDraining, CordonLifted)
		}
	}
	for i := range a.Metrics {
		if err := a.Metrics[i].validate(fmt.Sprintf("metrics[%d].", i)); err != nil {
			return err
		}
	}
	for i, s := range a.Scores {
		field := fmt.Sprintf("scores[%d].", i)
		if err := required(field+"cluster", s.Cluster, field+"scorer", s.Scorer); err != nil {
			return err
		}
		if s.Value != nil && (*s.Value < MinScore || *s.Value > MaxScore) {
			return fieldErrorf(field+"value", "is %d, want %d to %d", *s.Value, MinScore, MaxScore)
		}
	}
	return nil
}

// onceEach refuses to assume two things of one cluster.
func (a *WhatIfAsk) onceEach() error {
	added, cordoned := map[string]bool{}, map[string]bool{}
	for i := range a.Add {
		name := a.Add[i].Cluster.Name
		if added[name] {
			return fieldErrorf(fmt.Sprintf("add[%d].cluster.name", i), "repeats %q: add a cluster once", name)
		}
		added[name] = true
	}
	for i, c := range a.Cordon {
		if cordoned[c.Cluster] {
			return fieldErrorf(fmt.Sprintf("cordon[%d].cluster", i), "repeats %q: assume one state of a cluster", c.Cluster)
		}
		cordoned[c.Cluster] = true
	}
	return nil
}

func (m *WhatIfMetric) validate(field string) error {
	if err := required(field+"cluster", m.Cluster); err != nil {
		return err
	}
	if reason := CheckMetricName(m.Name); reason != "" {
		return fieldErrorf(field+"name", "%s", reason)
	}
	if len(m.Labels) > MaxLabels {
		return fieldErrorf(field+"labels", "has %d labels, at most %d are taken", len(m.Labels), MaxLabels)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Labels)) {
		if reason := CheckLabel(name, m.Labels[name]); reason != "" {
			return fieldErrorf(field+"labels", "%s", reason)
		}
	}
	if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
		return fieldErrorf(field+"value", "is not a finite number")
	}
	return nil
}

// within puts a field's path before that of an error of its own.
func within(field string, err error) error {
	if f, ok := err.(*FieldError); ok { //nolint:errorlint // Validate returns nothing else
		return &FieldError{Field: field + "." + f.Field, Reason: f.Reason}
	}
	return err
}
