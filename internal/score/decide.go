package score

import (
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Cause says why a result is published.
type Cause string

// Causes. None means that the published score says enough.
const (
	None     Cause = ""
	First    Cause = "First"    // there is no score yet
	Changed  Cause = "Changed"  // an item's value or reason differs
	Refresh  Cause = "Refresh"  // the published one will expire, this one holds longer
	Shorter  Cause = "Shorter"  // the published one claims to hold longer than it does
	Settings Cause = "Settings" // it goes to the hub now, or no longer
)

// State is what is remembered of a published score.
type State struct {
	Items []ItemState
	// ValidUntil is when it expires; zero where no item has a value.
	ValidUntil time.Time
	HubOff     bool
}

// ItemState is what is remembered of one of its items.
type ItemState struct {
	Name   string
	Reason string
	Value  int32
	Valued bool
}

// StateOf returns the state of a score that the bus received at receivedAt.
func StateOf(s *schemas.Score, receivedAt time.Time) State {
	state := State{ValidUntil: s.Expiry(receivedAt), HubOff: s.HubOff}
	for _, it := range s.Items {
		state.Items = append(state.Items, stateOf(it.Name, it.Reason, it.Value))
	}
	return state
}

func stateOf(name, reason string, value *int32) ItemState {
	s := ItemState{Name: name, Reason: reason}
	if value != nil {
		s.Value, s.Valued = *value, true
	}
	return s
}

// Terms are what a scorer says of all its scores.
type Terms struct {
	validFor time.Duration
	hubOff   bool
}

// NewTerms returns the terms of scores that hold for validFor, and are kept
// off the hub if hubOff.
func NewTerms(validFor time.Duration, hubOff bool) Terms { return Terms{validFor, hubOff} }

// ValidFor returns how long a sample, or an answer, holds.
func (t *Terms) ValidFor() time.Duration { return t.validFor }

// HubOff reports whether the scores are kept off the hub.
func (t *Terms) HubOff() bool { return t.hubOff }

// State returns what is to be remembered once r is published.
func (t *Terms) State(r *Result) State {
	s := State{ValidUntil: r.ValidUntil, HubOff: t.hubOff, Items: make([]ItemState, len(r.Items))}
	for i, it := range r.Items {
		s.Items[i] = stateOf(it.Name, it.Reason, it.Value)
	}
	return s
}

// Decide says whether next is to be published over prior (nil: there is
// none), and when to evaluate again if nothing else happens (zero: never).
// So that every metric event does not become a score event, a score whose
// values and reasons stay is published again only in the last half of its
// validity.
func (t *Terms) Decide(prior *State, next *Result, now time.Time) (Cause, time.Time) {
	cause := t.cause(prior, next, now)
	wake := next.Wake
	switch {
	case cause != None && next.Timeless:
		wake = earlier(wake, next.ValidUntil.Add(-t.validFor/2))
	case cause == None && (next.Timeless || next.ValidUntil.After(prior.ValidUntil)):
		wake = earlier(wake, prior.ValidUntil.Add(-t.validFor/2))
	}
	return cause, wake
}

func (t *Terms) cause(prior *State, next *Result, now time.Time) Cause {
	switch {
	case prior == nil:
		return First
	case !t.same(prior, next):
		return Changed
	case prior.HubOff != t.hubOff:
		return Settings
	case next.ValidUntil.IsZero():
		return None
	case t.overstated(prior, next):
		return Shorter
	case next.ValidUntil.After(prior.ValidUntil) && !now.Before(prior.ValidUntil.Add(-t.validFor/2)):
		return Refresh
	}
	return None
}

func (t *Terms) same(prior *State, next *Result) bool {
	if len(prior.Items) != len(next.Items) {
		return false
	}
	for i, it := range next.Items {
		if stateOf(it.Name, it.Reason, it.Value) != prior.Items[i] {
			return false
		}
	}
	return true
}

// overstated reports whether prior holds longer than next justifies. What a
// replica with a clock slightly ahead wrote of a timeless score is let be.
func (t *Terms) overstated(prior *State, next *Result) bool {
	slack := time.Duration(0)
	if next.Timeless {
		slack = t.validFor / 4
	}
	return prior.ValidUntil.After(next.ValidUntil.Add(slack))
}
