package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// BenchmarkPublish is one event with a PubAck, on a server in the same
// process, by so many goroutines over one connection.
func BenchmarkPublish(b *testing.B) {
	bus := connectWithStreams(b, eventstest.RunServer(b).URL())
	for _, publishers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("publishers=%d", publishers), func(b *testing.B) {
			publish(b, bus, publishers, b.N)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func publish(b *testing.B, bus *jetstream.Bus, publishers, n int) {
	b.Helper()
	e := eventstest.MetricEvent(b, "c", "s", 1)
	numbers := make(chan int, publishers)
	var running sync.WaitGroup
	for range publishers {
		running.Go(func() {
			for i := range numbers {
				subject := events.MetricSubject(fmt.Sprintf("c%d", i%10_000), "s")
				if _, err := bus.Publish(context.Background(), subject, e, events.WithMessageID(events.NewID())); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	running.Wait()
}

// BenchmarkWatchSnapshot reads the last event of each of 10,000 subjects.
func BenchmarkWatchSnapshot(b *testing.B) {
	const subjects = 10_000
	bus := connectWithStreams(b, eventstest.RunServer(b).URL())
	publish(b, bus, 256, 2*subjects)
	enough := errors.New("enough")
	b.ReportAllocs()
	for b.Loop() {
		stored := 0
		err := bus.Watch(context.Background(), events.Watch{Stream: events.StreamMetrics}, func(u events.Update) error {
			if u.Kind == events.Synced {
				return enough
			}
			stored++
			return nil
		})
		if !errors.Is(err, enough) || stored != subjects {
			b.Fatalf("%d subjects, %v", stored, err)
		}
	}
}
