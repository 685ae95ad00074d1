package writer

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// deciding is what is to be published of a desk: a decision, or the end of
// one.
type deciding struct {
	desk     *desk
	decision *schemas.PlacementDecision
	deleted  *schemas.Deleted
}

// start publishes beside the loop. The clusters of a decision count for
// Balance at once, or two Placements decided one after the other would both
// take the same empty cluster.
func (w *Writer) start(ctx context.Context, x *deciding, trigger *decider.Trigger, began time.Time) {
	d, eventType := x.desk, schemas.TypePlacementDecisionDeleted
	if x.decision != nil {
		eventType = schemas.TypePlacementDecided
		if trigger != nil {
			x.decision.Origin = &trigger.Origin
		}
		if d.object.Balances() {
			x.decision.Ahead = w.aheadOf(d.Key)
		}
		if !d.shadow { // which takes no place
			w.ahead.away[d.Key] = early{d.sequence, x.decision}
			w.settled(d)
		}
	}
	clear(d.triggers)
	w.line.Away(d)
	w.Start(ctx, decider.Job[*deciding]{
		Content: x, Type: eventType, Source: events.ServiceSource(Service), Key: d.String(),
		Subject: d.subject(), Expected: d.sequence, Trigger: trigger, Began: began,
		Attributes: []attribute.KeyValue{
			attribute.String("placement", d.String()), attribute.String("cause", x.cause()), attribute.String("mode", d.mode()),
		},
	})
}

func (x *deciding) cause() string {
	if x.deleted != nil {
		return placement.CauseDeleted
	}
	return x.decision.Cause
}

// Payload is the decision, or its end.
func (x *deciding) Payload() schemas.Payload {
	if x.deleted != nil {
		return x.deleted
	}
	return x.decision
}

// Settle takes note of what became of a job.
func (w *Writer) Settle(out *decider.Outcome[*deciding]) {
	d, known := out.Content.desk, true
	w.line.Back(d)
	if !d.shadow {
		delete(w.ahead.away, d.Key)
	}
	if out.Err != nil {
		if out.Trigger != nil {
			d.triggers[""] = *out.Trigger
		}
		if out.Read {
			known = w.adopt(d, out.Last)
		} else {
			w.settled(d)
		}
	}
	switch verdict := out.Verdict(); {
	case verdict == decider.Stored:
		d.Failures = 0
		w.published(out)
	case verdict == decider.Outrun && known:
		w.enqueue(d)
	case verdict == decider.Outrun, verdict == decider.Failed:
		w.wakeAt(d, d.Retry(w.Now()))
	}
}

func (w *Writer) published(out *decider.Outcome[*deciding]) {
	x, d := out.Content, out.Content.desk
	w.counts.published(x)
	if out.Ack.Sequence <= d.sequence {
		w.settled(d)
		return // the follow has brought it, or something newer
	}
	w.told(d, x.decision, out.Ack.Sequence, out.Expected)
	w.enqueueQuietly(d)
}

// told takes a decision, nil for a tombstone, that the log has at sequence,
// next behind after, and that was not read back yet.
func (w *Writer) told(d *desk, decision *schemas.PlacementDecision, sequence, after uint64) {
	d.acked = sequence
	if decision != nil && !d.shadow {
		w.ahead.stored[d.Key] = early{after, decision}
	}
	w.setDecision(d, decision, sequence)
}

// adopt takes the subject's last event, as the leader has it, for the truth.
// It returns false where that cannot be read and what stands before it has not
// come yet.
func (w *Writer) adopt(d *desk, last events.Message) bool {
	if last.Sequence == 0 {
		w.setDecision(d, nil, 0)
		return true
	}
	received, err := events.Read(last)
	if err != nil {
		covered := w.Covers(events.StreamDecisions, last.Sequence)
		if covered {
			d.sequence = last.Sequence
		}
		w.settled(d)
		return covered
	}
	decision, _ := received.Payload.(*schemas.PlacementDecision) // nil for its tombstone
	if last.Sequence > d.sequence {
		w.told(d, decision, last.Sequence, last.Sequence-1)
	} else {
		w.setDecision(d, decision, last.Sequence)
	}
	return true
}

// read takes note that the log was read up to an event of the desk.
func (w *Writer) read(d *desk, sequence uint64) {
	if !d.shadow {
		w.ahead.read(d.Key, sequence)
	}
}

// skip takes note of an unreadable event of the decision subject. What was
// decided before it counts, but the next decision comes behind it.
func (w *Writer) skip(d *desk, sequence uint64) {
	w.read(d, sequence)
	d.sequence = max(d.sequence, sequence)
	w.settled(d)
}

// follow takes an event of the decision stream, this replica's or another's.
func (w *Writer) follow(d *desk, decision *schemas.PlacementDecision, sequence uint64) {
	w.read(d, sequence)
	if sequence == d.sequence || sequence < d.acked {
		w.clearIdle(d)
		return
	}
	w.setDecision(d, decision, sequence)
	if w.Synced() {
		w.review(d)
	}
}

// forgetAcks makes the log the truth again, even where a restored store has
// lower sequences than before.
func (w *Writer) forgetAcks(stream string) {
	if stream != events.StreamDecisions {
		return
	}
	clear(w.ahead.stored)
	for _, d := range w.desks {
		d.acked = 0
	}
	for _, g := range w.graves {
		g.acked = 0
	}
}
