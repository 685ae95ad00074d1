package bound_test

import (
	"math"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/bound"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"":                                bound.AtLeast("--n", 3, 3),
		"--n is 2, want at least 3":       bound.AtLeast("--n", 2, 3),
		"--live is 1ms, want at least 1s": bound.AtLeast("--live", time.Millisecond, time.Second),
		"--n is 0, want 1 to 64":          bound.Within("--n", 0, 1, 64),
		"--n is 65, want 1 to 64":         bound.Within("--n", 65, 1, 64),
		"--share is 1.5, want 0 to 1":     bound.Within("--share", 1.5, 0, 1),
		"--share is NaN, want 0 to 1":     bound.Within("--share", math.NaN(), 0, 1),
		"--share is +Inf, want 0 to 1":    bound.Within("--share", math.Inf(1), 0, 1),
	} {
		if got := text(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, v := range []int{1, 64} {
		if err := bound.Within("--n", v, 1, 64); err != nil {
			t.Error(err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
