package schemas

import "time"

// Verdicts on a decision that was made again.
const (
	// ReplayEqual: the same inputs give the same decision.
	ReplayEqual = "Equal"
	// ReplayDifferent: they do not.
	ReplayDifferent = "Different"
	// ReplayExpired: some inputs are not kept any more.
	ReplayExpired = "InputsExpired"
	// ReplayNotOurs: another scheduler decided, so nothing can be made again.
	ReplayNotOurs = "NotOurs"
)

// Kinds of changes that would let a cluster be selected.
const (
	ChangeCluster    = "cluster" // it must be there, and stay
	ChangePlacement  = "placement"
	ChangeSet        = "set"
	ChangeLabel      = "label"
	ChangeClaim      = "claim"
	ChangeExpression = "expression"
	ChangeTaint      = "taint"
	ChangeCordon     = "cordon"
	ChangeScore      = "score"
	ChangeTotal      = "total" // no change of a single score does
)

// Change is one thing that would have to be otherwise for a cluster to be
// selected.
type Change struct {
	Kind string `json:"kind"`
	// Name is the key of a label or claim, a taint as KEY=VALUE:EFFECT, a
	// score as SCORER/ITEM, or else the name of the object.
	Name string `json:"name"`
	// Have is what it is, Want what it would have to be, where there is one
	// word for it.
	Have string `json:"have,omitempty"`
	Want string `json:"want,omitempty"`
	// Message says it for people.
	Message string `json:"message"`
}

// DecisionRef names a decision in the log.
type DecisionRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Sequence is its position in SW_DECISIONS.
	Sequence uint64 `json:"sequence"`
	// Now is the server time that it was made for.
	Now time.Time `json:"now,omitzero"`
}

// Difference is one field of a decision that differs.
type Difference struct {
	Field string `json:"field"`
	Was   string `json:"was"`
	Is    string `json:"is"`
}

// ExplainAnswer is the answer to an ExplainAsk.
type ExplainAnswer struct {
	Decision DecisionRef `json:"decision"`
	// Explanation is absent where the decision does not detail the cluster
	// and its inputs have expired.
	Explanation *Explanation `json:"explanation,omitempty"`
	// Recomputed is true where the explanation is not the decision's own but
	// was made from its inputs, at the positions that it rests on.
	Recomputed bool `json:"recomputed"`
	// Verdict is that of making the decision again: unless it is Equal, what
	// was recomputed may not be what was decided. Absent where nothing was.
	Verdict string `json:"verdict,omitempty"`
	// Rank is the cluster's place among the Eligible ones, from 1; 0 if it is
	// not one of them.
	Rank     int `json:"rank,omitempty"`
	Eligible int `json:"eligible,omitempty"`
	// Changes would let a cluster be selected that was not: all of them
	// together. Sufficient is true where that was tried.
	Changes    []Change `json:"changes,omitempty"`
	Sufficient bool     `json:"sufficient,omitempty"`
	// Expired are the inputs that are not kept any more, as STREAM SUBJECT.
	Expired []string `json:"expired,omitempty"`
}

// ReplayAnswer is the answer to a ReplayAsk.
type ReplayAnswer struct {
	Decision DecisionRef `json:"decision"`
	Verdict  string      `json:"verdict"`
	// Differences are from the decision in the log to the one made again.
	Differences []Difference `json:"differences,omitempty"`
	// Expired are the inputs that are not kept any more, as STREAM SUBJECT.
	Expired []string `json:"expired,omitempty"`
}

// AuditAnswer is the answer to an AuditAsk.
type AuditAnswer struct {
	// Counts are the decisions by verdict.
	Counts map[string]int `json:"counts"`
	// Results are those that are not Equal.
	Results []ReplayAnswer `json:"results,omitempty"`
	// Next is the question to go on with; absent where all was audited.
	Next *AuditAsk `json:"next,omitempty"`
}

// Validate checks the frame.
func (a *ExplainAnswer) Validate() error {
	return required("decision.namespace", a.Decision.Namespace, "decision.name", a.Decision.Name)
}

// Validate checks the frame.
func (a *ReplayAnswer) Validate() error {
	switch a.Verdict {
	case ReplayEqual, ReplayDifferent, ReplayExpired, ReplayNotOurs:
	default:
		return fieldErrorf("verdict", "is %q, want Equal, Different, InputsExpired or NotOurs", a.Verdict)
	}
	return required("decision.namespace", a.Decision.Namespace, "decision.name", a.Decision.Name)
}

// Validate checks that there are counts.
func (a *AuditAnswer) Validate() error {
	if a.Counts == nil {
		return fieldErrorf("counts", "is missing")
	}
	if a.Next != nil {
		if err := a.Next.Validate(); err != nil {
			return within("next", err)
		}
	}
	return nil
}
