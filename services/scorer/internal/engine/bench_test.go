package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// metricMessages makes n events of 10 samples of as many clusters as asked
// for. Every other one moves its cluster's score.
func metricMessages(b testing.TB, n, clusters int) []events.Message {
	b.Helper()
	messages := make([]events.Message, n)
	began := time.Now()
	for i := range messages {
		m := &schemas.Metrics{}
		for s := range 10 {
			m.Samples = append(m.Samples, schemas.Sample{
				Name: fmt.Sprintf("series_%d", s), Value: float64(i/clusters/2 + s), Labels: map[string]string{"instance": "node-1", "job": "node"},
			})
		}
		cluster := fmt.Sprintf("cluster-%d", i%clusters)
		header, data, err := events.Encode(newEvent(b, schemas.TypeMetricsObserved, events.ClusterSource(cluster, "node"), m))
		if err != nil {
			b.Fatal(err)
		}
		messages[i] = events.Message{
			Stream: events.StreamMetrics, Subject: events.MetricSubject(cluster, "node"), Sequence: uint64(i + 1),
			ReceivedAt: began.Add(time.Duration(i) * time.Microsecond), Header: header, Data: data,
		}
	}
	return messages
}

// BenchmarkDecode is the bar: only reading the events that the others score.
func BenchmarkDecode(b *testing.B) {
	messages := metricMessages(b, 10_000, 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := events.Read(messages[i%len(messages)]); err != nil {
			b.Fatal(err)
		}
	}
}

// accepting stores nothing and says so at once.
type accepting struct {
	decider.Bus
	sequence atomic.Uint64
}

func (a *accepting) Publish(context.Context, string, event.Event, ...events.PublishOption) (events.Ack, error) {
	return events.Ack{Stream: events.StreamScores, Sequence: a.sequence.Add(1)}, nil
}

func benchEngine(b testing.TB, bus decider.Bus) *Engine {
	b.Helper()
	e, err := New(decider.Config{Bus: bus, MaxInFlight: DefaultMaxInFlight, Metrics: prometheus.NewRegistry(), Tracer: noop.NewTracerProvider(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

func scorerMessage(b testing.TB, name, cel string) events.Message {
	b.Helper()
	bus := eventstest.NewBus()
	apply(b, bus, name, cel, nil)
	return bus.Messages(events.StreamConfig)[0]
}

// BenchmarkFoldAndEvaluate reads, folds and scores one event at a time, and
// publishes what changed to a bus that costs nothing.
func BenchmarkFoldAndEvaluate(b *testing.B) {
	messages := metricMessages(b, 10_000, 1000)
	e := benchEngine(b, &accepting{})
	ctx := context.Background()
	e.Take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: scorerMessage(b, "s", `linear(metric("series_3"), 0, 20)`)}}})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: messages[i%len(messages)]}}})
		e.Decide(ctx)
		for e.InFlight() > 0 {
			e.Await()
		}
	}
}
