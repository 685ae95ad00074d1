package schemas

import (
	"fmt"
	"math"
	"time"
)

// Bounds of a score, as OCM's AddOnPlacementScore has them.
const (
	MinScore      = -100
	MaxScore      = 100
	MaxScoreItems = 256
)

// Reasons of a score item.
const (
	ScoreComputedReason = "Computed" // the expression gave a finite number
	ScoreClamped        = "Clamped"  // ditto, but outside -100..100
	ScoreNoSample       = "NoSample" // no fresh sample of a name it needs
	ScoreAmbiguous      = "Ambiguous"
	ScoreNotFinite      = "NotFinite"
	ScoreFailed         = "Failed" // the expression failed otherwise
	// Of expressions that look back, and of items by a label.
	ScoreTooLittleHistory = "TooLittleHistory" // fewer points than a window wants
	ScoreTooManySeries    = "TooManySeries"    // more of a metric than a window holds
	ScoreNoHistory        = "NoHistory"        // the past is not known here
	ScoreTooManyValues    = "TooManyValues"    // a label has more than are scored
)

// Score is what one scorer says of one cluster: one item per dimension.
type Score struct {
	Cluster string      `json:"cluster"`
	Scorer  string      `json:"scorer"`
	Items   []ScoreItem `json:"items"`
	// ValidUntil is when the score expires, in server time. A publisher that
	// does not know server time sets ValidFor instead: the score then expires
	// that long after the bus received it. Exactly one of the two is set,
	// unless no item has a value.
	ValidUntil *time.Time `json:"validUntil,omitempty"`
	ValidFor   Duration   `json:"validFor,omitempty"`
	// HubOff keeps the score off the hub: no AddOnPlacementScore is written.
	HubOff bool `json:"hubOff,omitempty"`
	// Origin is the event that set the computation off.
	Origin *Origin `json:"origin,omitempty"`
	// Basis is the stream positions that the scorer had seen.
	Basis map[string]uint64 `json:"basis,omitempty"`
}

// ScoreItem is one dimension of a score.
type ScoreItem struct {
	Name string `json:"name"`
	// Value is in -100..100, or nil where there is no score; Reason says why.
	Value *int32 `json:"value,omitempty"`
	// Raw is the number before rounding and clamping.
	Raw *float64 `json:"raw,omitempty"`
	// Reason is a CamelCase word; Message is for people.
	Reason  string       `json:"reason"`
	Message string       `json:"message,omitempty"`
	Inputs  []ScoreInput `json:"inputs,omitempty"`
}

// ScoreInput is one value that the item was computed from.
type ScoreInput struct {
	// Kind is metric, window, label or claim; of a scoring API's, answer or
	// api.
	Kind string `json:"kind"`
	// Name is the series, label key or claim name; of a window, the function
	// of the series.
	Name string `json:"name"`
	// Value is the number or text that was read.
	Value string `json:"value"`
	// Subject and Sequence say where the value stands in the log; of a
	// window, its last one.
	Subject    string     `json:"subject,omitempty"`
	Sequence   uint64     `json:"sequence,omitempty"`
	ObservedAt *time.Time `json:"observedAt,omitempty"`
	// First is the sequence of a window's first value, and Points how many
	// values it has.
	First  uint64 `json:"first,omitempty"`
	Points int    `json:"points,omitempty"`
}

// Origin names the event that set a chain of events off, so that each hop
// can tell how long ago that was.
type Origin struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	// ReceivedAt is when the bus stored it, in server time.
	ReceivedAt time.Time `json:"receivedAt"`
}

// Validate checks names, bounds and that exactly one expiry is given.
func (s *Score) Validate() error {
	switch {
	case s.Cluster == "":
		return fieldErrorf("cluster", "is empty")
	case s.Scorer == "":
		return fieldErrorf("scorer", "is empty")
	case len(s.Items) == 0:
		return fieldErrorf("items", "is empty")
	case len(s.Items) > MaxScoreItems:
		return fieldErrorf("items", "has %d items, at most %d are taken", len(s.Items), MaxScoreItems)
	}
	valued := false
	seen := make(map[string]bool, len(s.Items))
	for i := range s.Items {
		item := &s.Items[i]
		if err := item.validate(fmt.Sprintf("items[%d]", i)); err != nil {
			return err
		}
		if seen[item.Name] {
			return fieldErrorf(fmt.Sprintf("items[%d].name", i), "repeats %q", item.Name)
		}
		seen[item.Name] = true
		valued = valued || item.Value != nil
	}
	return s.validateExpiry(valued)
}

func (s *Score) validateExpiry(valued bool) error {
	switch {
	case s.ValidFor < 0:
		return fieldErrorf("validFor", "is negative")
	case s.ValidUntil != nil && s.ValidFor != 0:
		return fieldErrorf("validFor", "and validUntil are both set, want one")
	case valued && s.ValidUntil == nil && s.ValidFor == 0:
		return fieldErrorf("validFor", "is missing: say for how long the score holds, for instance \"60s\"")
	}
	return nil
}

func (i *ScoreItem) validate(field string) error {
	switch {
	case i.Name == "":
		return fieldErrorf(field+".name", "is empty")
	case i.Value != nil && (*i.Value < MinScore || *i.Value > MaxScore):
		return fieldErrorf(field+".value", "is %d, want %d to %d", *i.Value, MinScore, MaxScore)
	case i.Raw != nil && (math.IsNaN(*i.Raw) || math.IsInf(*i.Raw, 0)):
		return fieldErrorf(field+".raw", "is not a finite number")
	case i.Reason == "":
		return fieldErrorf(field+".reason", "is empty")
	}
	return nil
}

// Expiry returns when the score expires, given when the bus received it; the
// zero time where it has no value to expire.
func (s *Score) Expiry(receivedAt time.Time) time.Time {
	switch {
	case s.ValidUntil != nil:
		return *s.ValidUntil
	case s.ValidFor != 0:
		return receivedAt.Add(time.Duration(s.ValidFor))
	}
	return time.Time{}
}
