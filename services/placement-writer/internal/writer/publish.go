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
			x.decision.Ahead = w.ahead.but(d.key)
		}
		w.fleet.SetDecision(d.key, placement.SelectedNames(x.decision))
		w.ahead[d.key] = 0
	}
	clear(d.triggers)
	w.line.Away(d)
	w.Start(ctx, decider.Job[*deciding]{
		Content: x, Type: eventType, Source: events.ServiceSource(Service), Key: d.key.String(),
		Subject: events.DecisionSubject(events.KindPlacement, d.key.Namespace, d.key.Name), Expected: d.sequence, Trigger: trigger, Began: began,
		Attributes: []attribute.KeyValue{attribute.String("placement", d.key.String()), attribute.String("cause", x.cause())},
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
	delete(w.ahead, d.key)
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
		d.wake = d.Retry(w.Now())
	}
}

func (w *Writer) published(out *decider.Outcome[*deciding]) {
	x, d := out.Content, out.Content.desk
	w.counts.decisions.WithLabelValues(x.cause()).Inc()
	if x.decision != nil {
		w.counts.moves.Add(float64(len(x.decision.Added) + len(x.decision.Removed)))
	}
	if out.Ack.Sequence <= d.sequence {
		w.settled(d)
		return // the follow has brought it, or something newer
	}
	d.acked = out.Ack.Sequence
	if x.decision != nil {
		w.ahead[d.key] = d.acked
	}
	w.setDecision(d, x.decision, out.Ack.Sequence)
	w.enqueueQuietly(d)
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
	w.setDecision(d, decision, last.Sequence)
	return true
}

// skip takes note of an unreadable event of the decision subject. What was
// decided before it counts, but the next decision comes behind it.
func (w *Writer) skip(d *desk, sequence uint64) {
	w.ahead.read(d.key, sequence)
	d.sequence = max(d.sequence, sequence)
	w.clearIdle(d)
}

// follow takes an event of the decision stream, this replica's or another's.
func (w *Writer) follow(d *desk, decision *schemas.PlacementDecision, sequence uint64) {
	w.ahead.read(d.key, sequence)
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
	for _, d := range w.desks {
		d.acked = 0
	}
	for _, g := range w.graves {
		g.acked = 0
	}
}
