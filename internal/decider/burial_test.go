package decider_test

import (
	"context"
	"errors"
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

func buried(t *testing.T, n int, fault error) (b *eventstest.Bus, counts *decider.Counts) {
	t.Helper()
	b = eventstest.NewBus()
	s := &stuck{Bus: b, release: make(chan struct{}), err: fault}
	l, _ := newLoop(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go l.Burials.Run(ctx)
	for i := range n {
		l.Bury(events.Message{Stream: events.StreamHub, Subject: "sw.hub.cluster._.a", Sequence: uint64(i + 1)}, &events.BadInput{Reason: "Odd", Err: errors.New("odd")})
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

func TestBurialsThatFailAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, counts := buried(t, 3, errors.New("full"))
		time.Sleep(time.Hour)
		if dropped := decidertest.Total(t, counts.DeadDropped); dropped != 3 {
			t.Errorf("%d dropped, want 3", dropped)
		}
	})
}
