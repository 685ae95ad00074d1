package decider_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// stuck publishes nothing until released.
type stuck struct {
	decider.Bus
	release chan struct{}
	err     error
}

func (s *stuck) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	select {
	case <-s.release:
	case <-ctx.Done():
		return events.Ack{}, ctx.Err()
	}
	if s.err != nil {
		return events.Ack{}, s.err
	}
	return s.Bus.Publish(ctx, subject, e, opts...)
}

func letter(n int) (events.Message, error) {
	m := events.Message{Stream: events.StreamHub, Subject: "sw.hub.cluster._.a", Sequence: uint64(n)} //nolint:gosec // small
	return m, &events.BadInput{Reason: "Odd", Err: errors.New("odd")}
}

func buried(t *testing.T, n int, fault error) (b *eventstest.Bus, counts *decider.Counts) {
	t.Helper()
	b = eventstest.NewBus()
	s := &stuck{Bus: b, release: make(chan struct{}), err: fault}
	l, _ := newLoop(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go l.Burials.Run(ctx)
	for i := range n {
		l.Bury(letter(i + 1))
	}
	close(s.release)
	synctest.Wait()
	return b, l.Counts
}

func TestBurialsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		b, counts := buried(t, n, nil)
		kept, dropped := len(b.Messages(events.StreamDead)), decidertest.Total(t, counts.DeadDropped)
		if kept+dropped != n || dropped == 0 || kept < 4096 {
			t.Errorf("%d letters kept and %d dropped, want %d in all", kept, dropped, n)
		}
		if got := decidertest.Total(t, counts.Dead.With(prometheus.Labels{"reason": "Odd"})); got != n {
			t.Errorf("%d counted, want %d", got, n)
		}
	})
}

// TestBurialsGoOnUntilTheyAreKept: a bus that is away for an hour costs no
// letter, whatever else waits in the queue.
func TestBurialsGoOnUntilTheyAreKept(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"a few": 3, "as many as there is room for": 4096} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				away := &decidertest.Faulty{Bus: b}
				away.Before.Store(math.MaxInt32)
				l, _ := newLoop(t, away)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go l.Burials.Run(ctx)
				for i := range n {
					l.Bury(letter(i + 1))
				}
				time.Sleep(time.Hour)
				away.Before.Store(0)
				time.Sleep(time.Hour)
				if kept, dropped := len(b.Messages(events.StreamDead)), decidertest.Total(t, l.Counts.DeadDropped); kept != n || dropped != 0 {
					t.Errorf("%d of %d letters kept, %d dropped", kept, n, dropped)
				}
			})
		})
	}
}

func TestLettersThatNoRetryMendsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if _, counts := buried(t, 3, events.ErrTooLarge); decidertest.Total(t, counts.DeadDropped) != 3 {
			t.Errorf("%d dropped, want 3", decidertest.Total(t, counts.DeadDropped))
		}
	})
}
