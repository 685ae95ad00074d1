package writer

import (
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
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
		if d.decides() {
			w.mark(d, cluster, t)
		}
	}
}

func (w *Writer) markNamespace(namespace string, t decider.Trigger) {
	for k, d := range w.desks {
		if k.Namespace == namespace && d.decides() {
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
	if w.desks[d.seat] == d {
		w.line.Push(d)
	}
}

// wakeAt has the desk decided at a time, zero for never.
func (w *Writer) wakeAt(d *desk, at time.Time) {
	d.wake, w.alarm = at, earlier(w.alarm, at)
}

// reportAt has the desk publish what changed of its scores at a time, zero for
// never.
func (w *Writer) reportAt(d *desk, at time.Time) {
	d.report, w.alarm = at, earlier(w.alarm, at)
}

// earlier is the first of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// wakeDue puts those in line whose time has come, and reports whether there
// were any.
func (w *Writer) wakeDue() bool {
	now, due := w.Now(), false
	if w.alarm.IsZero() || w.alarm.After(now) {
		return false
	}
	w.alarm = time.Time{}
	for _, d := range w.desks {
		if !d.wake.IsZero() && !d.wake.After(now) {
			d.wake, due = time.Time{}, true
			w.enqueue(d)
		}
		if !d.report.IsZero() && !d.report.After(now) {
			d.report, d.reporting, due = time.Time{}, true, true
			w.enqueueQuietly(d)
		}
		w.alarm = earlier(earlier(w.alarm, d.wake), d.report)
	}
	return due
}
