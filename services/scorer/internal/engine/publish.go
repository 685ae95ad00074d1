package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// publishTimeout bounds one publish, reconnects included; then the subject
// is read again.
const publishTimeout = 30 * time.Second

// job is one event to publish: a score, or the end of one.
type job struct {
	program   *score.Program
	result    score.Result
	withdrawn string // why, for a tombstone
	cause     string
	began     time.Time

	pair     *pair
	subject  string
	expected uint64
	basis    position
	trigger  *trigger
}

// outcome is what became of a job.
type outcome struct {
	job
	ack events.Ack
	err error
	// last is the subject's last event after a conflict or a timeout; read
	// is false where that could not be read either.
	last events.Message
	read bool
}

// start publishes beside the loop. At most one event of a pair is on its
// way.
func (e *Engine) start(ctx context.Context, p *pair, j job) {
	j.pair, j.expected, j.basis, j.trigger = p, p.sequence, e.position, p.trigger
	j.subject = events.ScoreSubject(p.cluster.name, p.scorer)
	p.inFlight, p.trigger = true, nil
	e.inFlight++
	e.running.Go(func() { e.results <- e.publish(ctx, j) })
}

func (e *Engine) publish(ctx context.Context, j job) outcome {
	if t := j.trigger; t != nil {
		ctx = trace.ContextWithRemoteSpanContext(ctx, t.span)
	}
	ctx, span := e.tracer.Start(ctx, "scorer.evaluate", trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(j.began),
		trace.WithAttributes(attribute.String("cluster", j.pair.cluster.name), attribute.String("scorer", j.pair.scorer), attribute.String("cause", j.cause)))
	defer span.End()
	out := e.send(ctx, j)
	if out.err != nil {
		span.SetStatus(codes.Error, out.err.Error())
	}
	return out
}

func (e *Engine) send(ctx context.Context, j job) outcome {
	out := outcome{job: j}
	ev, options, err := j.event()
	if err != nil {
		out.err = events.Permanent(err)
		return out
	}
	events.Inject(ctx, &ev)
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if out.ack, out.err = e.bus.Publish(ctx, j.subject, ev, options...); out.err == nil {
		return out
	}
	last, err := e.bus.Last(ctx, events.StreamScores, j.subject)
	out.last, out.read = last, err == nil || errors.Is(err, events.ErrNotFound)
	return out
}

// event makes the CloudEvent.
func (j *job) event() (event.Event, []events.PublishOption, error) {
	options := []events.PublishOption{events.ExpectLast(j.expected)}
	source := events.ScorerSource(j.pair.cluster.name, j.pair.scorer)
	var ev event.Event
	var err error
	if j.withdrawn != "" {
		options = append(options, events.Tombstone())
		ev, err = events.New(schemas.TypeScoreDeleted, source, &schemas.Deleted{Namespace: j.pair.cluster.name, Name: j.pair.scorer, Reason: j.withdrawn})
	} else {
		ev, err = events.New(schemas.TypeScoreComputed, source, j.score())
	}
	if err == nil {
		ev.SetExtension(events.ExtPartitionKey, j.pair.cluster.name)
	}
	return ev, options, err
}

func (j *job) score() *schemas.Score {
	s := &schemas.Score{
		Cluster: j.pair.cluster.name, Scorer: j.pair.scorer,
		Items: j.result.Score(), HubOff: j.program.HubOff(),
		Basis: map[string]uint64{events.StreamMetrics: j.basis.metrics, events.StreamHub: j.basis.hub, events.StreamConfig: j.basis.config},
	}
	if !j.result.ValidUntil.IsZero() {
		s.ValidUntil = &j.result.ValidUntil
	}
	if j.trigger != nil {
		s.Origin = &j.trigger.origin
	}
	return s
}

// settleAll takes note of all that is done, without waiting.
func (e *Engine) settleAll() {
	for {
		select {
		case r := <-e.results:
			e.settle(r)
		default:
			return
		}
	}
}

// settle takes note of what became of a job.
func (e *Engine) settle(out outcome) {
	p := out.pair
	p.inFlight = false
	e.inFlight--
	if out.err != nil && out.trigger != nil {
		p.trigger = out.trigger // older than one that came since
	}
	switch {
	case out.err == nil:
		p.failures = 0
		e.published(&out)
	case events.IsPermanent(out.err) || errors.Is(out.err, events.ErrTooLarge):
		// Only other inputs can mend it; they mark the pair again.
		e.counts.failures.Inc()
		e.log.Error("score cannot be published", "subject", out.subject, "error", out.err)
	case errors.Is(out.err, events.ErrConflict) && out.read:
		e.counts.conflicts.Inc()
		e.adopt(&out)
		e.enqueue(p)
	default:
		e.counts.failures.Inc()
		e.log.Warn("score was not published, trying again", "subject", out.subject, "error", out.err)
		if out.read {
			e.adopt(&out)
		}
		p.failures++
		delay := events.RetryDelay(p.failures)
		e.wakeAt(p, e.clock.Now().Add(delay/2+rand.N(delay/2)))
	}
	if p.again {
		p.again = false
		e.enqueue(p)
	}
}

func (e *Engine) published(out *outcome) {
	p := out.pair
	e.counts.published.WithLabelValues(out.cause).Inc()
	if out.trigger != nil {
		e.counts.lag.Observe(e.clock.Now().Sub(out.trigger.origin.ReceivedAt).Seconds())
	}
	if out.ack.Sequence <= p.sequence {
		return // the follow has brought it, or something newer
	}
	p.sequence, p.receivedAt = out.ack.Sequence, e.clock.Now()
	if out.withdrawn != "" {
		p.prior, p.ours, p.basis = nil, false, position{}
		return
	}
	state := out.program.State(&out.result)
	p.prior, p.ours, p.basis = &state, true, out.basis
}

// adopt takes the subject's last event as the leader has it for the truth,
// even an older one.
func (e *Engine) adopt(out *outcome) {
	p := out.pair
	e.observe(out.last.ReceivedAt)
	in := input{Message: out.last, gone: out.last.Sequence == 0}
	if !in.gone {
		in.Received, in.err = events.Read(out.last)
	}
	p.observe(&in)
}
