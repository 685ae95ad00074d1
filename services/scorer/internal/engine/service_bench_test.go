package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

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
		u.Message.ReceivedAt = time.Now()
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
	for decidertest.Total(b, e.Counts.Folded.WithLabelValues(events.StreamMetrics)) < n || decidertest.Total(b, e.counts.pending) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-stopped
	return decidertest.Total(b, e.counts.published)
}

// BenchmarkLatency is how long it takes from the publish of a metric to its
// score, on a real server.
func BenchmarkLatency(b *testing.B) {
	server := eventstest.RunServer(b)
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: server.URL()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { bus.Close() })
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
