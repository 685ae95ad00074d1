package writer

import (
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// seat is where a desk stands. A Placement in shadow has two: one for what
// counts, which is OCM's, and one for what Spokewire would decide. Each has a
// history of its own.
type seat struct {
	placement.Key
	shadow bool
}

// subject is where the desk's decisions go.
func (s seat) subject() string {
	kind := events.KindPlacement
	if s.shadow {
		kind = events.KindShadow
	}
	return events.DecisionSubject(kind, s.Namespace, s.Name)
}

// mode is that of the decisions that are made there.
func (s seat) mode() string {
	if s.shadow {
		return schemas.ModeShadow
	}
	return schemas.ModeDirect
}

// seatOf is the seat that an event of the hub or of a decision is for.
func seatOf(s events.Subject) seat {
	return seat{placement.Key{Namespace: s.Namespace, Name: s.Name}, s.Kind == events.KindShadow}
}

// desk is all that is known of one Placement at one seat.
type desk struct {
	decider.Turn
	seat

	// From the hub: the object, where it is there and its spec makes sense;
	// the tombstone, where it was deleted; and what its PlacementDecisions say.
	object   *placement.Placement
	position uint64 // of the object in SW_HUB
	deleted  *schemas.Deleted
	observed *schemas.ObservedDecision

	// From the log: the last decision, nil where there is none or its
	// tombstone, and where it stands; sequence is that of the subject's last
	// event, which may be none that can be read. acked is the highest sequence
	// that this replica was told of as its own, so that an older one that is
	// still on its way changes nothing.
	decision         *schemas.PlacementDecision
	stands, sequence uint64
	acked            uint64

	ranking  *placement.Ranking // nil until first needed
	standing standing           // in shadow

	asking    bool                       // its expressions are to be asked about more clusters
	due       bool                       // something happened that may move it, not only its own decision
	reporting bool                       // it is time to publish what changed of its scores
	triggers  map[string]decider.Trigger // what happened, by cluster ("" for the rest)
	// Server times, zero for never: when time moves the Placement or a try is
	// made again, and when scores alone may be published.
	wake, report time.Time
}

// known is what package placement makes of it.
func (d *desk) known() placement.Known {
	return placement.Known{Object: d.object, Deleted: d.deleted, Observed: d.observed, Decision: d.decision, Sequence: d.stands}
}

// decides reports whether it is ours to decide here.
func (d *desk) decides() bool { return d.known().Decides(d.mode()) }

// ours reports whether the last decision in the log is one that this service
// makes here.
func (d *desk) ours() bool {
	return d.decision != nil && d.decision.Scheduler == placement.SchedulerSpokewire && d.decision.Mode == d.mode()
}

// mourns reports whether the decision has outlived its Placement, or the
// shadow of one.
func (d *desk) mourns() bool {
	switch {
	case !d.ours():
		return false
	case d.object != nil:
		return d.shadow && d.object.Object.Mode() != schemas.ModeShadow
	}
	return d.deleted != nil && (d.deleted.UID == "" || d.deleted.UID == d.decision.Placement.UID)
}

// end is what ends the decision that mourns.
func (d *desk) end() *schemas.Deleted {
	reason := "the Placement was deleted"
	if d.object != nil {
		reason = "the Placement is in shadow no more"
	}
	return &schemas.Deleted{Namespace: d.Namespace, Name: d.Name, UID: d.decision.Placement.UID, Reason: reason}
}

// idle reports whether there is no reason to keep the desk. A tombstone is
// none: a grave does for it.
func (d *desk) idle() bool {
	if d.shadow {
		return !d.decides() && d.decision == nil && d.Idle()
	}
	return d.object == nil && d.observed == nil && d.decision == nil && d.Idle()
}

// settled brings what others read of the desk up to date.
func (w *Writer) settled(d *desk) {
	if d.shadow {
		w.compare(d)
		w.clearIdle(d)
		return
	}
	if names := w.counted(d).Selected(); names != nil {
		w.fleet.SetDecision(d.Key, names)
	} else {
		w.fleet.DeleteDecision(d.Key)
	}
	w.clearIdle(d)
}

// setObject replaces the Placement; nil means that it is gone.
func (w *Writer) setObject(d *desk, p *placement.Placement) {
	if d.object != nil {
		for _, resource := range d.object.Resources() {
			if delete(w.users[resource], d); len(w.users[resource]) == 0 {
				delete(w.users, resource)
			}
		}
	}
	d.object, d.ranking, d.wake, d.report = p, nil, time.Time{}, time.Time{}
	if p == nil || p.Object.Mode() != d.mode() {
		return
	}
	for _, resource := range p.Resources() {
		if w.users[resource] == nil {
			w.users[resource] = map[*desk]struct{}{}
		}
		w.users[resource][d] = struct{}{}
	}
}

// setObserved takes what the hub shows of the Placement's decision. Until
// there is one of ours, it is what was selected before.
func (w *Writer) setObserved(d *desk, o *schemas.ObservedDecision) {
	d.observed = o
	if d.ranking != nil && !d.ours() {
		d.ranking.SetPrior(d.known().Prior())
	}
	w.settled(d)
}

// setDecision takes the last event of the Placement's decision subject.
func (w *Writer) setDecision(d *desk, decision *schemas.PlacementDecision, sequence uint64) {
	d.decision, d.stands, d.sequence = decision, sequence, sequence
	if d.ranking != nil {
		d.ranking.SetPrior(d.known().Prior())
	}
	w.settled(d)
}
