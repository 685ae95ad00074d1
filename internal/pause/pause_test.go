package pause_test

import (
	"context"
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
