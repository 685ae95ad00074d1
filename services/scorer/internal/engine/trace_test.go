package engine

import (
	"testing"
	"testing/synctest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestTraceGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		exporter := tracetest.NewInMemoryExporter()
		start(t, b, sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
		apply(t, b, "s", `metric("x")`, nil)
		synctest.Wait()
		const traceID = "0af7651916cd43dd8448eb211c80319c"
		e := newEvent(t, schemas.TypeMetricsObserved, events.ClusterSource("c", "node"), samples(t, "x=1"))
		e.SetExtension(events.ExtTraceParent, "00-"+traceID+"-b7ad6b7169203331-01")
		publish(t, b, events.MetricSubject("c", "node"), e)
		expect(t, b, "c", "s", "1 Computed")
		spans := exporter.GetSpans()
		if len(spans) != 1 || spans[0].Name != "scorer.evaluate" || spans[0].Parent.SpanID().String() != "b7ad6b7169203331" {
			t.Fatalf("spans = %+v", spans)
		}
		r, _ := lastScore(t, b, "c", "s")
		want := "00-" + traceID + "-" + spans[0].SpanContext.SpanID().String() + "-01"
		if got := r.Event.Extensions()[events.ExtTraceParent]; got != want {
			t.Errorf("the score's traceparent = %v, want %s", got, want)
		}
	})
}
