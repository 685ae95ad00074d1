package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestALeapOfServerTimeIsTakenOverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, moved := events.NewClock(nil), make(chan struct{}, 8)
		clock.Observe(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- settle(ctx, clock, slog.New(slog.DiscardHandler), func() { moved <- struct{}{} })
		}()
		clock.Follow(time.Now().Add(time.Hour), true)
		time.Sleep(events.LeapHold - time.Second)
		if off := time.Until(clock.Now()); off != 0 || len(moved) != 0 {
			t.Errorf("before its time it is off by %v and moved %d times", off, len(moved))
		}
		time.Sleep(3 * time.Second)
		if off := time.Until(clock.Now()); off != time.Hour || len(moved) != 1 {
			t.Errorf("after it, it is off by %v and moved %d times", off, len(moved))
		}
		cancel()
		if err := <-done; err == nil {
			t.Error("it ended without a reason")
		}
	})
}
