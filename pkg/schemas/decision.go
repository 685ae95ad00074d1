package schemas

import (
	"fmt"
	"time"
)

// Modes of a placement decision.
const (
	ModeDirect = "direct" // Spokewire decides, the bridge writes
	ModeNative = "native" // OCM decides, the bridge observes
	ModeShadow = "shadow" // Spokewire decides, nothing is written
)

// Bounds of a decision's details, so that one at 10,000 clusters fits into
// 512 KiB.
const (
	MaxExplainedSelected = 32
	MaxExplainedRunnerUp = 8
)

// PlacementRef names a Placement, down to the object's identity.
type PlacementRef struct {
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Generation int64  `json:"generation,omitempty"`
}

func (r *PlacementRef) validate() error {
	return required("placement.namespace", r.Namespace, "placement.name", r.Name, "placement.uid", r.UID)
}

// PlacementDecision is the whole desired state of one Placement: complete,
// not a difference.
type PlacementDecision struct {
	Placement PlacementRef `json:"placement"`
	Mode      string       `json:"mode"`
	Scheduler string       `json:"scheduler"` // spokewire or ocm
	// Clusters is complete and in rank order.
	Clusters []SelectedCluster `json:"clusters"`
	Added    []string          `json:"added,omitempty"`
	Removed  []string          `json:"removed,omitempty"`
	// Cause is the CamelCase reason for which this decision differs from the
	// previous one.
	Cause string `json:"cause"`
	// Message says the cause for people.
	Message string `json:"message,omitempty"`
	// Groups are the decision groups in the order of their index.
	Groups []DecisionGroup `json:"groups,omitempty"`
	// Conditions are those of the Placement's status.
	Conditions []Condition `json:"conditions,omitempty"`
	// Basis is the stream positions that the decision rests on.
	Basis map[string]uint64 `json:"basis,omitempty"`
	// Ahead are decisions of other Placements that count for Balance although
	// the basis does not reach them: they were made before this one and not
	// read back yet.
	Ahead []Ahead `json:"ahead,omitempty"`
	// Now is the server time that the decision was made for.
	Now time.Time `json:"now"`
	// Timers are the future moments at which the decision must be made anew
	// even if nothing happens, by what they wait for.
	Timers map[string]time.Time `json:"timers,omitempty"`
	// Previous is the sequence of the decision before this one in the log, 0
	// for the first.
	Previous uint64 `json:"previous,omitempty"`
	// Considered counts the clusters that were looked at.
	Considered int `json:"considered"`
	// Rejected counts those that were not eligible, by reason.
	Rejected map[string]int `json:"rejected,omitempty"`
	// Explanations has details for the first selected, the first runners-up
	// and a few of the rejected.
	Explanations []Explanation `json:"explanations,omitempty"`
	// Flap is what flap control has to remember, nil where it has nothing to.
	Flap *Flap `json:"flap,omitempty"`
	// Rebalance is how far the Placement's last Rebalance is, nil where none is
	// in force.
	Rebalance *Rebalancing `json:"rebalance,omitempty"`
	Origin    *Origin      `json:"origin,omitempty"`
}

// Ahead names a decision of a Placement: the first one behind a position that
// was made for that moment. If there is none, it was never stored.
type Ahead struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// After is a position in SW_DECISIONS; of the Placement's own events this
	// decision is the next one.
	After uint64    `json:"after"`
	Now   time.Time `json:"now"`
}

// SelectedCluster is one cluster of a decision.
type SelectedCluster struct {
	Name string `json:"name"`
	// Score is the sum of weight times prioritizer score.
	Score int64 `json:"score"`
	Group int   `json:"group"`
}

// DecisionGroup names one group of the decision.
type DecisionGroup struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Condition is one condition of a Placement's status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True or False
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// Explanation says why a cluster was, or was not, selected.
type Explanation struct {
	Cluster string `json:"cluster"`
	// Reason is Selected, RunnerUp, Held or the class of the rejection
	// (Predicate, Taint, Terminating, StaleScore ...).
	Reason       string             `json:"reason"`
	Message      string             `json:"message,omitempty"`
	Score        *int64             `json:"score,omitempty"`
	Prioritizers []PrioritizerScore `json:"prioritizers,omitempty"`
}

// PrioritizerScore is one term of a cluster's total.
type PrioritizerScore struct {
	// Name is that of a built-in (Steady), or AddOn/RESOURCE/SCORE.
	Name   string `json:"name"`
	Score  int64  `json:"score"`
	Weight int32  `json:"weight"`
	// Message says what is special about the score: missing, expired, held.
	Message string `json:"message,omitempty"`
}

// Validate checks the frame and that no cluster is named twice.
func (d *PlacementDecision) Validate() error {
	if err := d.Placement.validate(); err != nil {
		return err
	}
	switch d.Mode {
	case ModeDirect, ModeNative, ModeShadow:
	default:
		return fieldErrorf("mode", "is %q, want direct, native or shadow", d.Mode)
	}
	if d.Clusters == nil {
		return fieldErrorf("clusters", "is missing (an empty list selects none)")
	}
	seen := make(map[string]struct{}, len(d.Clusters))
	for i, c := range d.Clusters {
		field := fmt.Sprintf("clusters[%d].name", i)
		if c.Name == "" {
			return fieldErrorf(field, "is empty")
		}
		if _, twice := seen[c.Name]; twice {
			return fieldErrorf(field, "repeats %q", c.Name)
		}
		seen[c.Name] = struct{}{}
	}
	if d.Now.IsZero() {
		return fieldErrorf("now", "is missing")
	}
	if d.Flap != nil {
		if err := d.Flap.validate(); err != nil {
			return err
		}
	}
	if d.Rebalance != nil {
		if err := d.Rebalance.validate(); err != nil {
			return err
		}
	}
	return required("scheduler", d.Scheduler, "cause", d.Cause)
}
