package work

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func newQueue(t *testing.T) *Queue {
	t.Helper()
	return NewQueue("test", slog.New(slog.NewTextHandler(t.Output(), nil)), NewMetrics(prometheus.NewRegistry()))
}

func TestQueueCoalescesAndRetries(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	for range 5 {
		q.Add("flaky")
	}
	q.Add("fine")
	ctx, cancel := context.WithCancel(t.Context())
	var flaky, fine atomic.Int32
	q.Run(ctx, 2, func(_ context.Context, subject string) (time.Duration, error) {
		if subject == "fine" {
			if fine.Add(1) == 1 {
				return time.Millisecond, nil // look again
			}
			return 0, nil
		}
		if flaky.Add(1) < 3 {
			return 0, errors.New("not yet")
		}
		cancel()
		return 0, nil
	})
	if flaky.Load() != 3 || fine.Load() != 2 {
		t.Errorf("looked at flaky %d times, at fine %d, want 3 and 2", flaky.Load(), fine.Load())
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	var g Gate
	g.Yield(t.Context(), time.Hour) // nothing urgent: at once
	leave, leaveToo := g.Enter(), g.Enter()
	passed := make(chan struct{})
	go func() {
		g.Yield(t.Context(), time.Hour)
		close(passed)
	}()
	leave()
	select {
	case <-passed:
		t.Fatal("it did not wait for all")
	default:
	}
	leaveToo()
	<-passed
	defer g.Enter()()
	start := time.Now()
	g.Yield(t.Context(), time.Millisecond)
	if waited := time.Since(start); waited < time.Millisecond {
		t.Errorf("it waited %s, want 1ms at least", waited)
	}
}
