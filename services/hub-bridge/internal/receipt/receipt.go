// Package receipt tells the bus what the bridge did.
package receipt

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	// waiting bounds the receipts that wait for the bus.
	waiting        = 4096
	publishTimeout = 10 * time.Second
)

// Answer is what a receipt says of one event.
type Answer struct {
	Kind, Namespace, Name string // of the receipt's subject
	Subject               string // of the event that is answered
	Sequence              uint64
	ID                    string
	ReceivedAt            time.Time
	Origin                *schemas.Origin
	Outcome               string
	Reason, Message       string
	Objects               []schemas.ObjectRef
}

// Writer publishes receipts in the background, so that the next write to the
// hub does not wait for them.
type Writer struct {
	bus    events.Publisher
	clock  *events.Clock
	log    *slog.Logger
	source string
	queue  chan outgoing

	outcomes *prometheus.CounterVec
	lost     prometheus.Counter
	lag      *prometheus.HistogramVec
}

type outgoing struct {
	span    trace.SpanContext
	subject string
	receipt schemas.Receipt
}

// NewWriter returns a writer that publishes as service.
func NewWriter(bus events.Publisher, clock *events.Clock, log *slog.Logger, service string, metrics prometheus.Registerer) *Writer {
	w := &Writer{
		bus: bus, clock: clock, log: log, source: events.ServiceSource(service), queue: make(chan outgoing, waiting),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_hub_bridge_receipts_total", Help: "Events answered, by kind, outcome and reason.",
		}, []string{"kind", "outcome", "reason"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "spokewire_hub_bridge_receipts_lost_total", Help: "Receipts that could not be published.",
		}),
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokewire_hub_bridge_apply_lag_seconds", Help: "From the bus's receipt of the decision, or of the event that set it off, to the hub's answer.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16),
		}, []string{"since"}),
	}
	metrics.MustRegister(w.outcomes, w.lost, w.lag)
	return w
}

// Record takes note of a and publishes it soon. It does not block: where too
// many wait for the bus, a is counted as lost.
func (w *Writer) Record(ctx context.Context, a Answer) {
	now := w.clock.Now()
	r := schemas.Receipt{
		Subject: a.Subject, Sequence: a.Sequence, ID: a.ID, Outcome: a.Outcome,
		Reason: a.Reason, Message: a.Message, Objects: a.Objects, At: now,
		LagMillis: millis(now.Sub(a.ReceivedAt)),
	}
	w.outcomes.WithLabelValues(a.Kind, a.Outcome, a.Reason).Inc()
	if a.Origin != nil {
		r.OriginLagMillis = millis(now.Sub(a.Origin.ReceivedAt))
	}
	if a.Outcome == schemas.OutcomeApplied && a.Reason == "" {
		w.lag.WithLabelValues("decision").Observe(r.LagMillis / 1000)
		if a.Origin != nil {
			w.lag.WithLabelValues("origin").Observe(r.OriginLagMillis / 1000)
		}
	}
	select {
	case w.queue <- outgoing{trace.SpanContextFromContext(ctx), events.ReceiptSubject(a.Kind, a.Namespace, a.Name), r}:
	default:
		w.lost.Inc()
	}
}

func millis(d time.Duration) float64 { return max(0, float64(d.Microseconds())/1000) }

// Run publishes until ctx ends.
func (w *Writer) Run(ctx context.Context) {
	for {
		select {
		case o := <-w.queue:
			if err := w.publish(ctx, o); err != nil && ctx.Err() == nil {
				w.lost.Inc()
				w.log.Warn("a receipt is lost", "subject", o.subject, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (w *Writer) publish(ctx context.Context, o outgoing) error {
	e, err := events.New(schemas.TypeReceiptRecorded, w.source, &o.receipt)
	if err != nil {
		return err
	}
	events.Inject(trace.ContextWithSpanContext(ctx, o.span), &e)
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	_, err = w.bus.Publish(ctx, o.subject, e)
	return err
}
