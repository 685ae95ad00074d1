package writer

import (
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestTraceAndOriginGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		exporter := tracetest.NewInMemoryExporter()
		start(t, b.Peer(), sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 1, time.Hour)
		h.place("train", onGPU)
		synctest.Wait()
		exporter.Reset()

		origin := schemas.Origin{ID: "m1", Subject: events.MetricSubject("b", "node"), ReceivedAt: time.Now().Add(-time.Second)}
		value := int32(90)
		e, err := events.New(schemas.TypeScoreComputed, events.ScorerSource("b", "gpu"), &schemas.Score{
			Cluster: "b", Scorer: "gpu", ValidFor: schemas.Duration(time.Hour), Origin: &origin,
			Items: []schemas.ScoreItem{{Name: "gpu", Value: &value, Reason: schemas.ScoreComputedReason}},
		})
		if err != nil {
			t.Fatal(err)
		}
		const traceID = "0af7651916cd43dd8448eb211c80319c"
		e.SetExtension(events.ExtTraceParent, "00-"+traceID+"-b7ad6b7169203331-01")
		h.score("a", 49, time.Hour) // something else happens first
		h.send(events.ScoreSubject("b", "gpu"), e)
		synctest.Wait()

		d := h.last("train")
		if d.Origin == nil || d.Origin.ID != "m1" || !d.Origin.ReceivedAt.Equal(origin.ReceivedAt) {
			t.Errorf("origin %+v, want the metric's", d.Origin)
		}
		spans := exporter.GetSpans()
		if len(spans) != 1 || spans[0].Name != "placement.decide" || spans[0].Parent.SpanID().String() != "b7ad6b7169203331" {
			t.Fatalf("spans %+v, want placement.decide under the score's", spans)
		}
		m, err := b.Last(t.Context(), events.StreamDecisions, decisionSubject("train"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := events.Read(m)
		want := "00-" + traceID + "-" + spans[0].SpanContext.SpanID().String() + "-01"
		if got := r.Event.Extensions()[events.ExtTraceParent]; err != nil || got != want {
			t.Errorf("traceparent %v, %v, want %s", got, err, want)
		}
	})
}
