package schemas

import "time"

// Health of a scorer that is asked over HTTP, as OCM's resource has it.
const (
	HealthActive   = "Active"
	HealthInactive = "Inactive"
	HealthUnknown  = "Unknown"
)

// MaxStatusMessage bounds a status's message, in characters.
const MaxStatusMessage = 1024

// ScorerStatus is what the scorer service says of a scorer that it asks over
// HTTP. It is also the claim of the replica that asks: until it ends no other
// one does.
type ScorerStatus struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID and Generation are those of the object on the hub, absent for one
	// that was asked for over the bus.
	UID        string `json:"uid,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	// Health is Active, Inactive or Unknown.
	Health string `json:"health"`
	// Reason is a CamelCase word for what is wrong, and Message says it to
	// people. Both are absent where nothing is.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// ScoreName is the scorer of its score events, absent until it is known.
	ScoreName string `json:"scoreName,omitempty"`
	// ConfigURL is where Config was read.
	ConfigURL string        `json:"configURL,omitempty"`
	Config    *SyncedConfig `json:"config,omitempty"`
	// Clusters is how many it is to score.
	Clusters int `json:"clusters"`
	// Failing counts, by reason, those of which the last attempt failed. The
	// last good score stands until it expires.
	Failing map[string]int `json:"failing,omitempty"`
	// Holder is the replica that asks, until HeldUntil in server time.
	Holder    string    `json:"holder"`
	HeldUntil time.Time `json:"heldUntil"`
}

// Validate checks names and bounds.
func (s *ScorerStatus) Validate() error {
	if err := required("namespace", s.Namespace, "name", s.Name, "holder", s.Holder); err != nil {
		return err
	}
	if err := oneOf("health", s.Health, true, HealthActive, HealthInactive, HealthUnknown); err != nil {
		return err
	}
	switch {
	case s.HeldUntil.IsZero():
		return fieldErrorf("heldUntil", "is no time")
	case s.Clusters < 0:
		return fieldErrorf("clusters", "is %d, want 0 or more", s.Clusters)
	}
	return checkTexts(text{"message", s.Message, MaxStatusMessage})
}
