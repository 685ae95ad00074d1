package events

import (
	"context"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Extract returns ctx with the span that e was published in as the remote
// parent, from e's traceparent and tracestate; ctx itself where e has none.
func Extract(ctx context.Context, e event.Event) context.Context {
	return propagation.TraceContext{}.Extract(ctx, extensionCarrier{&e})
}

// Inject writes ctx's span into e's traceparent and tracestate. It leaves e
// alone where ctx has none. Copies of e are not changed.
func Inject(ctx context.Context, e *event.Event) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	e.Context = e.Context.Clone()
	propagation.TraceContext{}.Inject(ctx, extensionCarrier{e})
}

// Traced runs the handler in a span called name, a child of the one that the
// message's event was published in, and injects it into the events that the
// handler returns and that hold no trace yet.
func Traced(tp trace.TracerProvider, name string) Decorator {
	tracer := tp.Tracer("github.com/spokewire/spokewire/pkg/events")
	return func(next Handler) Handler {
		return func(ctx context.Context, m Message) ([]Outgoing, error) {
			if e, err := Decode(m); err == nil {
				ctx = Extract(ctx, e)
			}
			ctx, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
				attribute.String("messaging.system", "nats"),
				attribute.String("messaging.destination.name", m.Subject),
				attribute.Int64("messaging.message.sequence", int64(m.Sequence)),
			))
			defer span.End()
			out, err := next(ctx, m)
			if err != nil {
				span.RecordError(err)
				span.SetStatus(codes.Error, "the handler failed")
			}
			for i := range out {
				out[i].Event = traced(ctx, out[i].Event)
			}
			return out, err
		}
	}
}

// traced returns e with ctx's span in it, unless e has one already.
func traced(ctx context.Context, e event.Event) event.Event {
	if extension(e, ExtTraceParent) == "" {
		Inject(ctx, &e)
	}
	return e
}

// extension returns the text of an extension attribute, "" where e has none.
func extension(e event.Event, name string) string {
	value, ok := e.Extensions()[name]
	if !ok {
		return ""
	}
	text, err := types.Format(value)
	if err != nil {
		return ""
	}
	return text
}

// extensionCarrier lets OpenTelemetry read and write an event's extensions.
type extensionCarrier struct{ event *event.Event }

func (c extensionCarrier) Get(key string) string { return extension(*c.event, key) }
func (c extensionCarrier) Set(key, value string) { c.event.SetExtension(key, value) }
func (c extensionCarrier) Keys() []string        { return []string{ExtTraceParent, ExtTraceState} }
