package events_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

func publish(t *testing.T, p events.Publisher, cluster string) {
	t.Helper()
	e, err := events.New("dev.spokewire.metrics.observed.v1", events.ClusterSource(cluster, "s"), metrics("x", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Publish(t.Context(), events.MetricSubject(cluster, "s"), e); err != nil {
		t.Fatal(err)
	}
}

func TestFeed(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	publish(t, bus, "a")
	watches := []events.Watch{{Stream: events.StreamMetrics}, {Stream: events.StreamScores}}
	batches := make(chan events.Batch, 64)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- events.Feed(ctx, bus, watches, func(b events.Batch) error {
			batches <- b
			return nil
		})
	}()
	until := func(what string, done func(events.Batch) bool) {
		t.Helper()
		for {
			select {
			case b := <-batches:
				if done(b) {
					return
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("did not come: %s", what)
			}
		}
	}
	seen := 0
	until("both watches synced", func(b events.Batch) bool {
		for _, u := range b.Updates {
			if u.Kind == events.Stored {
				seen++
			}
		}
		return b.Synced
	})
	if seen != 1 {
		t.Errorf("%d events came before it was synced, want 1", seen)
	}
	bus.Disconnect()
	until("behind", func(b events.Batch) bool { return !b.Synced })
	bus.Reconnect()
	until("synced again", func(b events.Batch) bool { return b.Synced })
	publish(t, bus, "b")
	until("what followed", func(b events.Batch) bool { return b.Synced && b.Updates[0].Message.Subject == "sw.metric.b.s" })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Feed = %v, want Canceled", err)
	}
}

// TestFeedGathers: what comes while the callback is busy is handed on at
// once.
func TestFeedGathers(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	busy, release, largest := make(chan struct{}, 1), make(chan struct{}), 0
	enough := errors.New("enough")
	go func() {
		<-busy
		for i := range 100 {
			publish(t, bus, strconv.Itoa(i))
		}
		close(release)
	}()
	stored := 0
	err := events.Feed(t.Context(), bus, []events.Watch{{Stream: events.StreamMetrics}}, func(b events.Batch) error {
		if b.Synced && stored == 0 && len(busy) == 0 {
			select {
			case busy <- struct{}{}:
				<-release
			default:
			}
		}
		for _, u := range b.Updates {
			if u.Kind == events.Stored {
				stored++
			}
		}
		largest = max(largest, len(b.Updates))
		if stored == 100 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || largest < 2 {
		t.Errorf("Feed = %v, at most %d updates at once, want several", err, largest)
	}
}

func TestFeedReturnsErrors(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	boom := errors.New("boom")
	err := events.Feed(t.Context(), bus, []events.Watch{{Stream: events.StreamMetrics}}, func(events.Batch) error { return boom })
	if !errors.Is(err, boom) {
		t.Errorf("a callback that fails: Feed = %v", err)
	}
	err = events.Feed(t.Context(), bus, []events.Watch{{}}, func(events.Batch) error { return nil })
	if !errors.Is(err, events.ErrInvalidOption) {
		t.Errorf("a watch without a stream: Feed = %v, want ErrInvalidOption", err)
	}
}
