package schemas

import (
	"time"
	"unicode/utf8"
)

// API version and kinds of what operators ask for of clusters and decisions.
const (
	CordonAPIVersion    = "spokewire.dev/v1alpha1"
	CordonKind          = "Cordon"
	RebalanceAPIVersion = "spokewire.dev/v1alpha1"
	RebalanceKind       = "Rebalance"
)

// States of a Cordon.
const (
	// CordonCordoned: direct Placements select the cluster no more, and those
	// that have selected it keep it.
	CordonCordoned = "cordoned"
	// CordonDraining: those that have selected it let it go too, as far as
	// another cluster takes its place.
	CordonDraining = "draining"
	// CordonLifted: the cluster is like any other again. It is an event and no
	// tombstone, so that what was decided under the cordon can be made again.
	CordonLifted = "lifted"
)

// MaxNote bounds who asked for something and why, in characters.
const MaxNote = 256

// Cordon says whether direct Placements may select a cluster, which has its
// name. It need not be there.
type Cordon struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   Metadata   `json:"metadata"`
	Spec       CordonSpec `json:"spec"`
}

// CordonSpec is what is asked for.
type CordonSpec struct {
	// State is cordoned, draining or lifted.
	State string `json:"state"`
	// Force lets a drain take the cluster away even where no other takes its
	// place.
	Force bool `json:"force,omitempty"`
	// Until is the server time from which on the cluster is like any other
	// again. Absent is never.
	Until *time.Time `json:"until,omitempty"`
	// By says who asked, in that person's own words: nobody checks it.
	By string `json:"by,omitempty"`
	// Reason says why, for people.
	Reason string `json:"reason,omitempty"`
}

// DefaultRebalanceTime is for how long a Rebalance that does not say is open.
const DefaultRebalanceTime = Duration(time.Hour)

// Rebalance asks for the direct Placement of its name to be decided once as
// if nothing but its change budget kept a selected cluster.
type Rebalance struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Metadata   Metadata      `json:"metadata"`
	Spec       RebalanceSpec `json:"spec"`
}

// RebalanceSpec is what is asked for.
type RebalanceSpec struct {
	// ID tells requests apart: one is honoured once, however often it is
	// published.
	ID string `json:"id"`
	// ValidFor is for how long, from its receipt, it is open where a change
	// budget lets only some clusters go at a time. More than 0, and at most
	// 168h. Default 1h.
	ValidFor *Duration `json:"validFor,omitempty"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

// Rebalancing is how far the last Rebalance is that a Placement's decisions
// have honoured.
type Rebalancing struct {
	// ID is the request's.
	ID string `json:"id"`
	// Remaining is how many clusters it may still move; 0 when it is done.
	Remaining int `json:"remaining"`
}

// Validate checks names, the state and bounds.
func (c *Cordon) Validate() error {
	if err := checkKind(c.APIVersion, c.Kind, CordonAPIVersion, CordonKind); err != nil {
		return err
	}
	if err := required("metadata.name", c.Metadata.Name); err != nil {
		return err
	}
	switch s := &c.Spec; {
	case s.State != CordonCordoned && s.State != CordonDraining && s.State != CordonLifted:
		return fieldErrorf("spec.state", "is %q, want %s, %s or %s", s.State, CordonCordoned, CordonDraining, CordonLifted)
	case s.Force && s.State != CordonDraining:
		return fieldErrorf("spec.force", "is for spec.state %s only, not %s", CordonDraining, s.State)
	case s.Until != nil && s.State == CordonLifted:
		return fieldErrorf("spec.until", "is set, but nothing ends where spec.state is %s: leave it out", CordonLifted)
	}
	return checkNotes(c.Spec.By, c.Spec.Reason)
}

// Validate checks names and bounds.
func (r *Rebalance) Validate() error {
	if err := checkKind(r.APIVersion, r.Kind, RebalanceAPIVersion, RebalanceKind); err != nil {
		return err
	}
	if err := required("metadata.name", r.Metadata.Name, "metadata.namespace", r.Metadata.Namespace, "spec.id", r.Spec.ID); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(r.Spec.ID); n > MaxNote {
		return fieldErrorf("spec.id", "has %d characters, at most %d are taken", n, MaxNote)
	}
	if d := r.Spec.ValidFor; d != nil && (*d <= 0 || !d.withinPolicy()) {
		return fieldErrorf("spec.validFor", "is %s, want more than 0s, and at most %dh (leave it out for the default)", d, MaxPolicyTime)
	}
	return checkNotes(r.Spec.By, r.Spec.Reason)
}

// Expiry is when the request ends that was received at a moment.
func (r *Rebalance) Expiry(receivedAt time.Time) time.Time {
	d := DefaultRebalanceTime
	if r.Spec.ValidFor != nil {
		d = *r.Spec.ValidFor
	}
	return receivedAt.Add(time.Duration(d))
}

func checkNotes(by, reason string) error {
	for _, note := range []struct{ field, text string }{{"spec.by", by}, {"spec.reason", reason}} {
		if n := utf8.RuneCountInString(note.text); n > MaxNote {
			return fieldErrorf(note.field, "has %d characters, at most %d are taken", n, MaxNote)
		}
	}
	return nil
}

func (r *Rebalancing) validate() error {
	if r.Remaining < 0 {
		return fieldErrorf("rebalance.remaining", "is %d, want 0 or more", r.Remaining)
	}
	return required("rebalance.id", r.ID)
}
