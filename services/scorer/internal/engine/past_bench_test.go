package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// BenchmarkReadPast reads the windows of one metric from a real server: 64
// events of 10 samples of each of 500 clusters.
func BenchmarkReadPast(b *testing.B) {
	const clusters, n = 500, 500 * window.MaxEvents
	server := eventstest.RunServer(b)
	bus, err := jetstream.Connect(b.Context(), jetstream.Options{URL: server.URL()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { bus.Close() })
	if err := bus.EnsureStreams(b.Context(), events.Streams()); err != nil {
		b.Fatal(err)
	}
	fill(b, bus, metricMessages(b, n, clusters))
	h := &historian{bus: bus, limit: MaxWindowBytes}
	selection := window.Select([]window.Ask{{Metric: "series_3", Length: time.Hour}})
	for b.Loop() {
		past, err := h.read(context.Background(), wish{selection: selection, since: time.Unix(1, 0)})
		if err != nil || len(past.windows) != clusters {
			b.Fatal(len(past.windows), err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkLookBack reads, folds and scores one event at a time, by a rate
// over all that the bus keeps.
func BenchmarkLookBack(b *testing.B) {
	messages := metricMessages(b, 10_000, 100)
	e := benchEngine(b, &accepting{})
	ctx := context.Background()
	cel := fmt.Sprintf("rate(%q, duration(\"8ms\"))", "series_3")
	e.Take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: scorerMessage(b, "s", cel)}}})
	e.takePast(&readPast{wish: wish{round: e.past.round, selection: e.past.selection, since: time.Unix(1, 0)}})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: messages[i%len(messages)]}}})
		e.Decide(ctx)
		for e.InFlight() > 0 {
			e.Await()
		}
	}
}
