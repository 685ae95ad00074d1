package inventory

import (
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Compared is what OCM selects for a Placement in shadow beside what Spokewire
// would.
type Compared struct {
	OCM       *Decision `json:"ocm"`
	Spokewire *Decision `json:"spokewire"`
	placement.Agreement
	// Reasons are Spokewire's words on the clusters that only one selects, as
	// far as there are any.
	Reasons []schemas.Explanation `json:"reasons,omitempty"`
	// Kept compares the decisions that the log still has.
	Kept *Record `json:"kept,omitempty"`
	// Now is the server's time of the reading.
	Now time.Time `json:"now"`
}

// Record is how two schedulers compared over a while.
type Record struct {
	Since time.Time `json:"since"`
	// AgreedSeconds is for how long since then both selected the same.
	AgreedSeconds float64 `json:"agreedSeconds"`
	OfSeconds     float64 `json:"ofSeconds"`
	// Moves are the clusters that came in or went out.
	MovesOCM       int `json:"movesOCM"`
	MovesSpokewire int `json:"movesSpokewire"`
}

// Share is the part of the time in which both selected the same, from 0 to 1.
func (r *Record) Share() float64 {
	if r.OfSeconds <= 0 {
		return 1
	}
	return r.AgreedSeconds / r.OfSeconds
}

// Compare joins what there is of a Placement in shadow. history has the
// decisions of both kinds that the log keeps, in their order. It returns
// ErrNoPlacement or ErrNoDecision, wrapped.
func Compare(s *State, namespace, name string, history []events.Received) (*Compared, error) {
	placements := Placements(s)
	i := slices.IndexFunc(placements, func(p Placement) bool { return p.Namespace == namespace && p.Name == name })
	switch {
	case i < 0:
		return nil, fmt.Errorf("Placement %s/%s: %w", namespace, name, ErrNoPlacement)
	case placements[i].Mode != schemas.ModeShadow:
		return nil, fmt.Errorf("Placement %s/%s is not in shadow but %s: annotate it with %s=%s", namespace, name, placements[i].Mode, schemas.AnnotationMode, schemas.ModeShadow)
	}
	p := &placements[i]
	if p.Shadow == nil {
		return nil, fmt.Errorf("Placement %s/%s, in shadow: %w; is placement-writer running?", namespace, name, ErrNoDecision)
	}
	if p.Decision == nil {
		return nil, fmt.Errorf("Placement %s/%s, by OCM: %w; is its placement controller running?", namespace, name, ErrNoDecision)
	}
	c := &Compared{OCM: p.Decision, Spokewire: p.Shadow, Agreement: *p.Agreement, Now: s.Now()}
	for _, e := range p.Shadow.Explanations {
		if slices.Contains(c.OnlyOCM, e.Cluster) || slices.Contains(c.OnlySpokewire, e.Cluster) {
			c.Reasons = append(c.Reasons, e)
		}
	}
	c.Kept = record(p.Shadow.Placement.UID, history, c.Now)
	return c, nil
}

// Reason is what there is to say of a cluster, nil for nothing.
func (c *Compared) Reason(cluster string) *schemas.Explanation {
	for i := range c.Reasons {
		if c.Reasons[i].Cluster == cluster {
			return &c.Reasons[i]
		}
	}
	return nil
}

// recorder goes through a history.
type recorder struct {
	Record
	ocm, ours *schemas.PlacementDecision
	agreed    bool
	at        time.Time // up to here it is counted
}

// record counts from the moment at which both had decided on the object; nil
// where that never was.
func record(uid string, history []events.Received, now time.Time) *Record {
	r := &recorder{}
	for i := range history {
		r.take(uid, &history[i])
	}
	if r.Since.IsZero() {
		return nil
	}
	r.count(now)
	return &r.Record
}

func (r *recorder) take(uid string, e *events.Received) {
	d, _ := e.Payload.(*schemas.PlacementDecision) // nil for a tombstone
	if d != nil && d.Placement.UID != uid {
		d = nil
	}
	r.count(e.Message.ReceivedAt)
	known := r.ocm != nil && r.ours != nil
	side, moves := &r.ocm, &r.MovesOCM
	if e.Subject.Kind == events.KindShadow {
		side, moves = &r.ours, &r.MovesSpokewire
	}
	if known && d != nil {
		*moves += len(d.Added) + len(d.Removed)
	}
	*side = d
	if r.ocm == nil || r.ours == nil {
		return
	}
	if r.Since.IsZero() {
		r.Since = e.Message.ReceivedAt
	}
	r.agreed = placement.Agree(placement.SelectedNames(r.ocm), placement.SelectedNames(r.ours)).Full()
}

// count adds the time since the last event, if both had decided.
func (r *recorder) count(now time.Time) {
	if passed := now.Sub(r.at).Seconds(); r.ocm != nil && r.ours != nil && passed > 0 {
		r.OfSeconds += passed
		if r.agreed {
			r.AgreedSeconds += passed
		}
	}
	r.at = now
}
