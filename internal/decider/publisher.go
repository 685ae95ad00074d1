package decider

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// publishTimeout bounds one publish, reconnects included; then the subject
// is read again.
const publishTimeout = 30 * time.Second

// Content makes the payload of a job: a *schemas.Deleted for a tombstone. It
// is called beside the loop.
type Content interface{ Payload() schemas.Payload }

// Job is one event to publish.
type Job[T Content] struct {
	Content T
	Type    string // of the event, as its Source and Key are
	Source  string
	Key     string // events of one key stay in order
	Subject string
	// Stream is the one of Subject. Default: that of the Spec.
	Stream string
	// Expected is the sequence that the subject's last event must have.
	Expected uint64
	// Trigger is the event that set it off, nil if none is known.
	Trigger *Trigger
	// Began is when the deciding began, zero for now, by the local clock.
	Began      time.Time
	Attributes []attribute.KeyValue // of its span
}

// Outcome is what became of a job.
type Outcome[T Content] struct {
	Job[T]
	Ack events.Ack
	Err error
	// Last is the subject's last event as the leader has it, without a
	// sequence where there is none. It is only there if Read.
	Last events.Message
	Read bool
}

// Verdict is what an outcome comes to.
type Verdict int

// Verdicts.
const (
	Stored  Verdict = iota
	Outrun          // another was first: decide anew over Last
	Failed          // decide anew after a while; if Read over Last, for the event may be stored
	Refused         // only other inputs can mend it
)

// Verdict returns what the outcome comes to.
func (o *Outcome[T]) Verdict() Verdict {
	switch {
	case o.Err == nil:
		return Stored
	case refused(o.Err):
		return Refused
	case errors.Is(o.Err, events.ErrConflict) && o.Read:
		return Outrun
	}
	return Failed
}

func refused(err error) bool { return events.IsPermanent(err) || errors.Is(err, events.ErrTooLarge) }

// Publisher publishes beside the loop, each event as a compare-and-set.
type Publisher[T Content] struct {
	bus      Bus
	tracer   trace.Tracer
	span     string
	stream   string
	inFlight int
	results  chan Outcome[T] // has room for all that are in flight
	running  sync.WaitGroup
}

func newPublisher[T Content](c Config, s Spec) Publisher[T] {
	return Publisher[T]{
		bus:     c.Bus,
		tracer:  c.Tracer.Tracer("github.com/spokewire/spokewire/services/" + s.Service),
		span:    s.Span,
		stream:  s.Stream,
		results: make(chan Outcome[T], max(1, c.MaxInFlight)),
	}
}

// InFlight is how many jobs are not settled.
func (p *Publisher[T]) InFlight() int { return p.inFlight }

// Room reports whether one more job may be started.
func (p *Publisher[T]) Room() bool { return p.inFlight < cap(p.results) }

// Start publishes j. Start no other of its subject before it is settled.
func (p *Publisher[T]) Start(ctx context.Context, j Job[T]) {
	p.inFlight++
	p.running.Go(func() { p.results <- p.publish(ctx, j) })
}

func (p *Publisher[T]) publish(ctx context.Context, j Job[T]) Outcome[T] {
	if t := j.Trigger; t != nil {
		ctx = trace.ContextWithRemoteSpanContext(ctx, t.Span)
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(j.Attributes...)}
	if !j.Began.IsZero() {
		options = append(options, trace.WithTimestamp(j.Began))
	}
	ctx, span := p.tracer.Start(ctx, p.span, options...)
	defer span.End()
	out := Outcome[T]{Job: j}
	p.send(ctx, &out)
	if out.Err != nil {
		span.SetStatus(codes.Error, out.Err.Error())
	}
	return out
}

func (p *Publisher[T]) send(ctx context.Context, out *Outcome[T]) {
	payload := out.Content.Payload()
	ev, err := events.New(out.Type, out.Source, payload)
	if err != nil {
		out.Err = events.Permanent(err)
		return
	}
	ev.SetExtension(events.ExtPartitionKey, out.Key)
	events.Inject(ctx, &ev)
	options := []events.PublishOption{events.ExpectLast(out.Expected)}
	if _, end := payload.(*schemas.Deleted); end {
		options = append(options, events.Tombstone())
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	out.Ack, out.Err = p.bus.Publish(ctx, out.Subject, ev, options...)
	if out.Err == nil || refused(out.Err) {
		return
	}
	last, err := p.bus.Last(ctx, cmp.Or(out.Stream, p.stream), out.Subject)
	out.Last, out.Read = last, err == nil || errors.Is(err, events.ErrNotFound)
}
