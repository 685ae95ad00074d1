package writer

import (
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// maxTriggers bounds those that a desk keeps; beyond it the first ones stand
// for the rest.
const maxTriggers = 256

// mark makes the Placement be decided because of what happened to a cluster,
// or to anything else where the name is empty.
func (w *Writer) mark(d *desk, cluster string, t decider.Trigger) {
	if _, known := d.triggers[cluster]; !known && len(d.triggers) < maxTriggers && t.Origin.ID != "" {
		d.triggers[cluster] = t
	}
	if w.Synced() { // until then, Begin finds out
		w.enqueue(d)
	}
}

func (w *Writer) markAll(cluster string, t decider.Trigger) {
	for _, d := range w.desks {
		if d.direct() {
			w.mark(d, cluster, t)
		}
	}
}

func (w *Writer) markNamespace(namespace string, t decider.Trigger) {
	for k, d := range w.desks {
		if k.Namespace == namespace && d.direct() {
			w.mark(d, "", t)
		}
	}
}

// markUsers marks the Placements that read the scores of that name.
func (w *Writer) markUsers(resource, cluster string, t decider.Trigger) {
	for _, name := range []string{resource, placement.AnyResource} {
		for d := range w.users[name] {
			w.mark(d, cluster, t)
		}
	}
}

// enqueue puts the desk in line to be decided.
func (w *Writer) enqueue(d *desk) {
	d.due = true
	w.enqueueQuietly(d)
}

// enqueueQuietly puts the desk in line to find out when it must be decided
// next. Without a new event nothing moves: a change of its own decision
// (Steady) or of another's (Balance) is none. Nor is anything left to decide
// of a desk that was cleared.
func (w *Writer) enqueueQuietly(d *desk) {
	if w.desks[d.key] == d {
		w.line.Push(d)
	}
}

// wakeDue puts those in line whose time has come, and reports whether there
// were any.
func (w *Writer) wakeDue() bool {
	now, due := w.Now(), false
	for _, d := range w.desks {
		if !d.wake.IsZero() && !d.wake.After(now) {
			d.wake, due = time.Time{}, true
			w.enqueue(d)
		}
		if !d.report.IsZero() && !d.report.After(now) {
			d.report, d.reporting, due = time.Time{}, true, true
			w.enqueueQuietly(d)
		}
	}
	return due
}

// next is when the first desk's time comes, zero for never.
func (w *Writer) next() time.Time {
	var first time.Time
	for _, d := range w.desks {
		for _, at := range []time.Time{d.wake, d.report} {
			if !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first
}

// setPolicy takes the fleet's PlacementPolicy, nil where it is gone.
func (w *Writer) setPolicy(spec *schemas.PlacementPolicySpec, t decider.Trigger) {
	w.fleet.SetPolicy(spec)
	w.markAll("", t)
}
