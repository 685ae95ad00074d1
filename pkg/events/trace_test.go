package events_test

import (
	"context"
	"errors"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

func TestExtractInject(t *testing.T) {
	t.Parallel()
	tp := sdktrace.NewTracerProvider()
	ctx, span := tp.Tracer("test").Start(t.Context(), "publish")
	defer span.End()
	e := newMetrics(t)
	copied := e
	events.Inject(ctx, &e)
	if _, ok := copied.Extensions()[events.ExtTraceParent]; ok {
		t.Error("Inject changed a copy")
	}
	got := trace.SpanContextFromContext(events.Extract(t.Context(), e))
	if !got.IsRemote() || got.TraceID() != span.SpanContext().TraceID() || got.SpanID() != span.SpanContext().SpanID() {
		t.Errorf("extracted %v, want %v", got, span.SpanContext())
	}
	plain := newMetrics(t)
	events.Inject(t.Context(), &plain)
	if len(plain.Extensions()) > 0 {
		t.Errorf("without a span: extensions %v", plain.Extensions())
	}
	plain.SetExtension(events.ExtTraceParent, "nonsense")
	if trace.SpanContextFromContext(events.Extract(t.Context(), plain)).IsValid() {
		t.Error("a malformed traceparent was taken")
	}
}

// TestTraced: publish, handle and what follows are one trace.
func TestTraced(t *testing.T) {
	t.Parallel()
	exported := tracetest.NewInMemoryExporter()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))
	ctx, first := tp.Tracer("test").Start(t.Context(), "publish")
	e := newMetrics(t)
	events.Inject(ctx, &e)
	first.End()
	bus := eventstest.NewBus()
	h := events.Chain(func(context.Context, events.Message) ([]events.Outgoing, error) {
		return []events.Outgoing{{Subject: "sw.metric.c.s", Event: newMetrics(t)}}, nil
	}, events.Traced(tp, "work"), events.Publishing(bus))
	if _, err := h(t.Context(), messageOf(t, "sw.metric.c.s", e)); err != nil {
		t.Fatal(err)
	}
	follow, err := events.Decode(bus.Messages(events.StreamMetrics)[0])
	if err != nil {
		t.Fatal(err)
	}
	spans := exported.GetSpans()
	work := spans[len(spans)-1]
	if work.Name != "work" || work.Parent.SpanID() != first.SpanContext().SpanID() {
		t.Errorf("span %s has parent %v, want %v", work.Name, work.Parent.SpanID(), first.SpanContext().SpanID())
	}
	if got := trace.SpanContextFromContext(events.Extract(t.Context(), follow)); got.SpanID() != work.SpanContext.SpanID() {
		t.Errorf("what followed is in span %v, want %v", got.SpanID(), work.SpanContext.SpanID())
	}
	boom := errors.New("boom")
	if _, err := events.Chain(failing(boom), events.Traced(tp, "fails"))(t.Context(), events.Message{}); !errors.Is(err, boom) {
		t.Errorf("err = %v", err)
	}
	spans = exported.GetSpans()
	if last := spans[len(spans)-1]; last.Status.Description == "" || len(last.Events) != 1 {
		t.Errorf("a failure is not in its span: %+v", last.Status)
	}
}
