package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
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
	Bus
	sequence atomic.Uint64
}

func (a *accepting) Publish(context.Context, string, event.Event, ...events.PublishOption) (events.Ack, error) {
	return events.Ack{Stream: events.StreamScores, Sequence: a.sequence.Add(1)}, nil
}

func benchEngine(b testing.TB, bus Bus) *Engine {
	b.Helper()
	e, err := New(Config{Bus: bus, Metrics: prometheus.NewRegistry(), Tracer: noop.NewTracerProvider(), Log: slog.New(slog.DiscardHandler)})
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
	e.take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: scorerMessage(b, "s", `linear(metric("series_3"), 0, 20)`)}}})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: messages[i%len(messages)]}}})
		e.dispatch(ctx)
		for e.inFlight > 0 {
			e.settle(<-e.results)
		}
	}
}

// replaying hands out everything that the stream of metrics holds, after a
// Synced, as if it came in live.
type replaying struct{ *jetstream.Bus }

func (r replaying) Watch(ctx context.Context, w events.Watch, fn func(events.Update) error) error {
	if w.Stream != events.StreamMetrics {
		return r.Bus.Watch(ctx, w, fn)
	}
	if err := fn(events.Update{Kind: events.Synced, Message: events.Message{Stream: w.Stream}}); err != nil {
		return err
	}
	w.Since = time.Unix(1, 0)
	return r.Bus.Watch(ctx, w, func(u events.Update) error {
		if u.Kind != events.Stored {
			return nil
		}
		return fn(u)
	})
}

// BenchmarkService compares, on one real server and the same 20,000 events
// of 10 samples, a consumer that only decodes them with the whole scorer.
func BenchmarkService(b *testing.B) {
	const n = 20_000
	server := eventstest.RunServer(b)
	ctx := context.Background()
	connect := func() *jetstream.Bus {
		bus, err := jetstream.Connect(ctx, jetstream.Options{URL: server.URL()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { bus.Close() })
		return bus
	}
	bus := connect()
	if err := bus.EnsureStreams(ctx, events.Streams()); err != nil {
		b.Fatal(err)
	}
	fill(b, bus, metricMessages(b, n, 1000))
	apply(b, bus, "s", `linear(metric("series_3"), 0, 20)`, nil)
	var decoded float64
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			decodeAll(b, replaying{connect()}, n)
		}
		decoded = float64(n*b.N) / b.Elapsed().Seconds()
		b.ReportMetric(decoded, "events/s")
	})
	b.Run("scorer", func(b *testing.B) {
		published := 0
		for b.Loop() {
			published += scoreAll(b, replaying{connect()}, n)
		}
		rate := float64(n*b.N) / b.Elapsed().Seconds()
		b.ReportMetric(rate, "events/s")
		b.ReportMetric(float64(published)/b.Elapsed().Seconds(), "scores/s")
		b.ReportMetric(rate/decoded, "of-decode")
	})
}

func fill(b *testing.B, bus *jetstream.Bus, messages []events.Message) {
	b.Helper()
	work := make(chan events.Message)
	done := make(chan error, 64)
	for range cap(done) {
		go func() {
			for m := range work {
				e, err := events.Decode(m)
				if err == nil {
					_, err = bus.Publish(context.Background(), m.Subject, e)
				}
				if err != nil {
					b.Error(err)
				}
			}
			done <- nil
		}()
	}
	for _, m := range messages {
		work <- m
	}
	close(work)
	for range cap(done) {
		<-done
	}
}

func decodeAll(b *testing.B, bus replaying, n int) {
	b.Helper()
	errDone := errors.New("done")
	seen := 0
	err := bus.Watch(context.Background(), events.Watch{Stream: events.StreamMetrics}, func(u events.Update) error {
		if u.Kind != events.Stored {
			return nil
		}
		if _, err := events.Read(u.Message); err != nil {
			return err
		}
		if seen++; seen == n {
			return errDone
		}
		return nil
	})
	if !errors.Is(err, errDone) {
		b.Fatal(err)
	}
}

// scoreAll returns how many scores were published.
func scoreAll(b *testing.B, bus replaying, n int) int {
	b.Helper()
	e := benchEngine(b, bus)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- e.Run(ctx) }()
	for total(b, e.counts.folded.WithLabelValues(events.StreamMetrics)) < n || gauge(b, e.counts.pending) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-stopped
	return total(b, e.counts.published)
}

// BenchmarkLatency is how long it takes from the publish of a metric to its
// score, on a real server.
func BenchmarkLatency(b *testing.B) {
	server := eventstest.RunServer(b)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: server.URL()})
	if err != nil {
		b.Fatal(err)
	}
	defer bus.Close()
	if err := bus.EnsureStreams(ctx, events.Streams()); err != nil {
		b.Fatal(err)
	}
	apply(b, bus, "s", `metric("x")`, nil)
	start(b, bus, nil)
	scored := make(chan struct{}, 1)
	go func() {
		_ = bus.Watch(ctx, events.Watch{Stream: events.StreamScores}, func(u events.Update) error {
			if u.Kind == events.Stored {
				scored <- struct{}{}
			}
			return nil
		})
	}()
	i := 0
	for b.Loop() {
		i++
		metric(b, bus, "c", "node", fmt.Sprintf("x=%d", i%2))
		<-scored
	}
}

// TestMemory holds 10,000 clusters of 50 series and states what they cost.
func TestMemory(t *testing.T) {
	const clusters, series, most = 10_000, 50, 200 << 20
	e := benchEngine(t, &accepting{})
	ctx := context.Background()
	e.take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: scorerMessage(t, "s", `linear(metric("series_3"), 0, 20)`)}}})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range clusters {
		m := &schemas.Metrics{}
		for s := range series {
			m.Samples = append(m.Samples, schemas.Sample{
				Name: fmt.Sprintf("series_%d", s), Value: float64(i), Labels: map[string]string{"instance": fmt.Sprintf("10.1.%d.%d:9100", s/10, s%10), "job": "node"},
			})
		}
		name := fmt.Sprintf("cluster-%d", i)
		header, data, err := events.Encode(newEvent(t, schemas.TypeMetricsObserved, events.ClusterSource(name, "node"), m))
		if err != nil {
			t.Fatal(err)
		}
		message := events.Message{Stream: events.StreamMetrics, Subject: events.MetricSubject(name, "node"), Sequence: uint64(i + 1), ReceivedAt: time.Now(), Header: header, Data: data}
		e.take(ctx, events.Batch{Synced: true, Updates: []events.Update{{Message: message}}})
		e.dispatch(ctx)
		for e.inFlight > 0 {
			e.settle(<-e.results)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := after.HeapAlloc - before.HeapAlloc
	t.Logf("%d clusters x %d series and one score each: %d MiB", clusters, series, used>>20)
	if used > most {
		t.Errorf("%d MiB are held, want at most %d", used>>20, most>>20)
	}
	runtime.KeepAlive(e)
}
