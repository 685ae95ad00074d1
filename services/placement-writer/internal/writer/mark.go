package writer

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// trigger is the event that may move a Placement.
type trigger struct {
	origin schemas.Origin
	span   trace.SpanContext
}

func triggerOf(r *events.Received) trigger {
	return trigger{
		origin: schemas.Origin{ID: r.Event.ID(), Subject: r.Message.Subject, ReceivedAt: r.Message.ReceivedAt},
		span:   trace.SpanContextFromContext(events.Extract(context.Background(), r.Event)),
	}
}

// maxTriggers bounds those that a desk keeps; beyond it the first ones stand
// for the rest.
const maxTriggers = 256

// mark makes the Placement be decided because of what happened to a cluster,
// or to anything else where the name is empty.
func (w *Writer) mark(d *desk, cluster string, t trigger) {
	if _, known := d.triggers[cluster]; !known && len(d.triggers) < maxTriggers && t.origin.ID != "" {
		d.triggers[cluster] = t
	}
	if w.synced { // until then, startDeciding finds out
		w.enqueue(d)
	}
}

func (w *Writer) markAll(cluster string, t trigger) {
	for _, d := range w.desks {
		if d.direct() {
			w.mark(d, cluster, t)
		}
	}
}

func (w *Writer) markNamespace(namespace string, t trigger) {
	for k, d := range w.desks {
		if k.Namespace == namespace && d.direct() {
			w.mark(d, "", t)
		}
	}
}

// markUsers marks the Placements that read the scores of that name.
func (w *Writer) markUsers(resource, cluster string, t trigger) {
	for d := range w.users[resource] {
		w.mark(d, cluster, t)
	}
}

// enqueue puts the desk in line to be decided.
func (w *Writer) enqueue(d *desk) {
	d.due = true
	w.enqueueQuietly(d)
}

// enqueueQuietly puts the desk in line to find out when it must be decided
// next. Without a new event nothing moves: a change of its own decision
// (Steady) or of another's (Balance) is none.
func (w *Writer) enqueueQuietly(d *desk) {
	if !d.queued {
		d.queued = true
		w.queue = append(w.queue, d)
	}
}

// wakeDue puts those in line whose time has come.
func (w *Writer) wakeDue() {
	if !w.synced {
		return
	}
	now := w.clock.Now()
	for _, d := range w.desks {
		if !d.wake.IsZero() && !d.wake.After(now) {
			d.wake = time.Time{}
			w.enqueue(d)
		}
		if !d.report.IsZero() && !d.report.After(now) {
			d.report, d.reporting = time.Time{}, true
			w.enqueueQuietly(d)
		}
	}
}

// nap is how long until a desk's time comes.
func (w *Writer) nap() time.Duration {
	if !w.synced {
		return time.Hour
	}
	var first time.Time
	for _, d := range w.desks {
		for _, at := range []time.Time{d.wake, d.report} {
			if !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	if first.IsZero() {
		return time.Hour
	}
	return max(time.Millisecond, first.Sub(w.clock.Now()))
}
