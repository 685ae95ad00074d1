package writer

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// publishTimeout bounds one publish, reconnects included; then the subject
// is read again.
const publishTimeout = 30 * time.Second

// job is one event to publish: a decision, or the end of one.
type job struct {
	decision *schemas.PlacementDecision
	deleted  *schemas.Deleted
	trigger  *trigger
	began    time.Time

	desk     *desk
	subject  string
	expected uint64
}

// outcome is what became of a job.
type outcome struct {
	job
	ack events.Ack
	err error
	// last is the subject's last event after a failure, without a sequence
	// where there is none; read is false where that could not be read either.
	last events.Message
	read bool
}

// start publishes beside the loop. At most one event of a Placement is on
// its way. Its clusters count for Balance at once, or two Placements decided
// one after the other would both take the same empty cluster.
func (w *Writer) start(ctx context.Context, d *desk, j job) {
	j.desk, j.expected = d, d.sequence
	j.subject = events.DecisionSubject(events.KindPlacement, d.key.Namespace, d.key.Name)
	if j.decision != nil {
		if j.trigger != nil {
			j.decision.Origin = &j.trigger.origin
		}
		w.fleet.SetDecision(d.key, placement.SelectedNames(j.decision))
	}
	d.inFlight = true
	clear(d.triggers)
	w.inFlight++
	w.running.Go(func() { w.results <- w.publish(ctx, j) })
}

func (w *Writer) publish(ctx context.Context, j job) outcome {
	if j.trigger != nil {
		ctx = trace.ContextWithRemoteSpanContext(ctx, j.trigger.span)
	}
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(attribute.String("placement", j.desk.key.String()), attribute.String("cause", j.cause())),
	}
	if !j.began.IsZero() {
		options = append(options, trace.WithTimestamp(j.began))
	}
	ctx, span := w.tracer.Start(ctx, "placement.decide", options...)
	defer span.End()
	out := w.send(ctx, j)
	if out.err != nil {
		span.SetStatus(codes.Error, out.err.Error())
	}
	return out
}

func (w *Writer) send(ctx context.Context, j job) outcome {
	out := outcome{job: j}
	e, options, err := j.event()
	if err != nil {
		out.err = events.Permanent(err)
		return out
	}
	events.Inject(ctx, &e)
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if out.ack, out.err = w.bus.Publish(ctx, j.subject, e, options...); out.err == nil {
		return out
	}
	last, err := w.bus.Last(ctx, events.StreamDecisions, j.subject)
	out.last, out.read = last, err == nil || errors.Is(err, events.ErrNotFound)
	return out
}

func (j *job) cause() string {
	if j.deleted != nil {
		return placement.CauseDeleted
	}
	return j.decision.Cause
}

func (j *job) event() (event.Event, []events.PublishOption, error) {
	options := []events.PublishOption{events.ExpectLast(j.expected)}
	var e event.Event
	var err error
	if j.deleted != nil {
		options = append(options, events.Tombstone())
		e, err = events.New(schemas.TypePlacementDecisionDeleted, events.ServiceSource(Service), j.deleted)
	} else {
		e, err = events.New(schemas.TypePlacementDecided, events.ServiceSource(Service), j.decision)
	}
	if err == nil {
		e.SetExtension(events.ExtPartitionKey, j.desk.key.String())
	}
	return e, options, err
}

// settle takes note of what became of a job.
func (w *Writer) settle(out outcome) {
	d := out.desk
	d.inFlight = false
	w.inFlight--
	if out.err != nil && out.trigger != nil {
		d.triggers[""] = *out.trigger
	}
	switch {
	case out.err == nil:
		d.failures = 0
		w.published(&out)
	case events.IsPermanent(out.err) || errors.Is(out.err, events.ErrTooLarge):
		// Only other inputs can mend it, and they put it in line again.
		w.telemetry.failures.Inc()
		w.log.Error("decision cannot be published", "placement", d.key.String(), "error", out.err)
		w.settled(d)
	case errors.Is(out.err, events.ErrConflict) && out.read:
		w.telemetry.conflicts.Inc()
		w.adopt(&out)
		w.enqueue(d)
	default:
		w.retry(&out)
	}
	if d.due { // something happened in the meantime
		w.enqueue(d)
	}
}

func (w *Writer) retry(out *outcome) {
	d := out.desk
	w.telemetry.failures.Inc()
	w.log.Warn("decision was not published, trying again", "placement", d.key.String(), "error", out.err)
	if out.read {
		w.adopt(out)
	} else {
		w.settled(d)
	}
	d.failures++
	delay := events.RetryDelay(d.failures)
	d.wake = w.clock.Now().Add(delay/2 + rand.N(delay/2))
}

func (w *Writer) published(out *outcome) {
	d := out.desk
	w.telemetry.decisions.WithLabelValues(out.cause()).Inc()
	if out.trigger != nil {
		w.telemetry.lag.Observe(w.clock.Now().Sub(out.trigger.origin.ReceivedAt).Seconds())
	}
	if out.decision != nil {
		w.telemetry.moves.Add(float64(len(out.decision.Added) + len(out.decision.Removed)))
	}
	if out.ack.Sequence <= d.sequence {
		w.settled(d)
		return // the follow has brought it, or something newer
	}
	d.acked = out.ack.Sequence
	w.setDecision(d, out.decision, out.ack.Sequence)
	w.enqueueQuietly(d)
}

// adopt takes the subject's last event, as the leader has it, for the truth.
func (w *Writer) adopt(out *outcome) {
	d := out.desk
	w.observe(out.last.ReceivedAt)
	if out.last.Sequence == 0 {
		w.setDecision(d, nil, 0)
		return
	}
	received, err := events.Read(out.last)
	if err != nil {
		w.burials.add(out.last, err)
		w.setDecision(d, nil, out.last.Sequence)
		return
	}
	decision, _ := received.Payload.(*schemas.PlacementDecision) // nil for its tombstone
	w.setDecision(d, decision, out.last.Sequence)
}

// follow takes an event of the decision stream, this replica's or another's.
func (w *Writer) follow(d *desk, decision *schemas.PlacementDecision, sequence uint64) {
	if sequence == d.sequence || sequence < d.acked {
		return
	}
	w.setDecision(d, decision, sequence)
	if !w.synced {
		return
	}
	if w.outdated(d) {
		w.enqueue(d)
	} else {
		w.enqueueQuietly(d)
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
}
