package schemas

import "time"

// Bounds of what is asked about decisions.
const (
	// MaxHypotheses bounds each list of a WhatIfAsk.
	MaxHypotheses = 1000
	// MaxAudited is how many decisions one AuditAsk makes again.
	MaxAudited = 200
	// MaxDifferences bounds the differences of one answer.
	MaxDifferences = 64
)

// ExplainAsk asks why a Placement's decision did, or did not, select a
// cluster.
type ExplainAsk struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Cluster   string `json:"cluster"`
	// Sequence is the decision's, 0 for the last one.
	Sequence uint64 `json:"sequence,omitempty"`
}

// ReplayAsk asks for a decision to be made again from its inputs.
type ReplayAsk struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Sequence is the decision's, 0 for the last one.
	Sequence uint64 `json:"sequence,omitempty"`
}

// AuditAsk asks for all decisions of a period to be made again, at most
// MaxAudited at a time.
type AuditAsk struct {
	// From is the server time of the first decision to look at.
	From time.Time `json:"from"`
	// To is that of the last; absent for all that there are.
	To time.Time `json:"to,omitzero"`
	// After is the sequence of a decision up to which everything was audited
	// already, as AuditAnswer.Next has it.
	After uint64 `json:"after,omitempty"`
	// Namespace and Name bound it to some Placements.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Validate checks that the names are there.
func (a *ExplainAsk) Validate() error {
	return required("namespace", a.Namespace, "name", a.Name, "cluster", a.Cluster)
}

// Validate checks that the names are there.
func (a *ReplayAsk) Validate() error { return required("namespace", a.Namespace, "name", a.Name) }

// Validate checks that the period has a beginning.
func (a *AuditAsk) Validate() error {
	if a.From.IsZero() {
		return fieldErrorf("from", "is missing: from when on?")
	}
	return nil
}
