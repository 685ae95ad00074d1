package schemas

import "time"

// Outcomes of a receipt.
const (
	OutcomeApplied    = "Applied"    // the hub now holds what was decided
	OutcomeUnchanged  = "Unchanged"  // it already did
	OutcomeSuperseded = "Superseded" // a newer event of the subject took its place
	OutcomeRefused    = "Refused"    // it will never be applied; Reason says why
)

// Receipt is what the bridge did with one decision, score or request.
type Receipt struct {
	// Subject, Sequence and ID name the event that it answers.
	Subject  string `json:"subject"`
	Sequence uint64 `json:"sequence"`
	ID       string `json:"id"`
	Outcome  string `json:"outcome"`
	// Reason and Message say why, for Refused and Superseded.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Objects are those that were written or found in place.
	Objects []ObjectRef `json:"objects,omitempty"`
	At      time.Time   `json:"at"` // server time
	// Lag is from the answered event's receive time to At; OriginLag from
	// that of the event that set the chain off. Milliseconds.
	LagMillis       float64 `json:"lagMillis"`
	OriginLagMillis float64 `json:"originLagMillis,omitempty"`
}

// ObjectRef is one object on the hub, as it was after the write.
type ObjectRef struct {
	Kind            string `json:"kind"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Validate checks the frame.
func (r *Receipt) Validate() error {
	switch r.Outcome {
	case OutcomeApplied, OutcomeUnchanged, OutcomeSuperseded, OutcomeRefused:
	default:
		return fieldErrorf("outcome", "is %q, want Applied, Unchanged, Superseded or Refused", r.Outcome)
	}
	return required("subject", r.Subject, "id", r.ID)
}
