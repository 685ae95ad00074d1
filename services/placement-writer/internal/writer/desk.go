package writer

import (
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// desk is all that is known of one Placement.
type desk struct {
	decider.Turn
	key placement.Key

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

	ranking *placement.Ranking // nil until first needed

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

// direct reports whether it is ours to decide.
func (d *desk) direct() bool { return d.known().Direct() }

// ours reports whether the last decision in the log is one that this service
// makes.
func (d *desk) ours() bool {
	return d.decision != nil && d.decision.Scheduler == placement.SchedulerSpokewire && d.decision.Mode == schemas.ModeDirect
}

// mourns reports whether the decision has outlived its Placement.
func (d *desk) mourns() bool {
	return d.object == nil && d.deleted != nil && d.ours() &&
		(d.deleted.UID == "" || d.deleted.UID == d.decision.Placement.UID)
}

// idle reports whether there is no reason to keep the desk. A tombstone is
// none: a grave does for it.
func (d *desk) idle() bool {
	return d.object == nil && d.observed == nil && d.decision == nil && d.Idle()
}

// settled brings what others read of the desk up to date. What is on its way
// counts until its outcome is known.
func (w *Writer) settled(d *desk) {
	if w.ahead.away(d.key) {
		return
	}
	if names := d.known().Selected(); names != nil {
		w.fleet.SetDecision(d.key, names)
	} else {
		w.fleet.DeleteDecision(d.key)
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
	if p == nil || !p.Object.Direct {
		return
	}
	for _, resource := range p.Resources() {
		if w.users[resource] == nil {
			w.users[resource] = map[*desk]struct{}{}
		}
		w.users[resource][d] = struct{}{}
	}
}

// setDecision takes the last event of the Placement's decision subject.
func (w *Writer) setDecision(d *desk, decision *schemas.PlacementDecision, sequence uint64) {
	d.decision, d.stands, d.sequence = decision, sequence, sequence
	if d.ranking != nil {
		d.ranking.SetPrior(d.known().Prior())
	}
	w.settled(d)
}
