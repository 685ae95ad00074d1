package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/pause"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if !pause.For(ctx, 40*time.Second) || time.Since(began) != 40*time.Second {
			t.Errorf("the first pause took %s or says that the context ended", time.Since(began))
		}
		if pause.For(ctx, 40*time.Second) || time.Since(began) != time.Minute {
			t.Errorf("the second pause ended after %s, or does not say that the context did", time.Since(began))
		}
		if pause.For(ctx, 0) {
			t.Error("a pause of nothing says that an ended context lives")
		}
	})
}

// The end of the time and that of the caller are told apart.
func TestWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		above, stop := context.WithCancelCause(t.Context())
		ctx, cancel := pause.Within(above, time.Minute)
		defer cancel()
		if err := pause.Why(ctx); err != nil {
			t.Errorf("got %v of a wait that goes on", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := pause.Why(ctx); !errors.Is(err, context.DeadlineExceeded) || err.Error() != "not within 1m0s" {
			t.Errorf("got %v, want that the time is up", err)
		}

		stopped, cancel := pause.Within(above, time.Minute)
		defer cancel()
		failure := errors.New("another part failed")
		stop(failure)
		if err := pause.Why(stopped); !errors.Is(err, failure) || err.Error() != "stopped waiting: another part failed" {
			t.Errorf("got %v, want that it was stopped", err)
		}
	})
}
