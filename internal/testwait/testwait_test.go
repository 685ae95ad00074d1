package testwait

import (
	"context"
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		limit time.Duration
		after int // looks all is well
		want  string
	}{
		"at once":      {t.Context(), time.Minute, 1, ""},
		"in the end":   {t.Context(), time.Minute, 3, ""},
		"never":        {t.Context(), 50 * time.Millisecond, 1 << 30, "not yet"},
		"nobody waits": {cancelled, time.Minute, 1, "never looked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looks := 0
			got := Until(c.ctx, c.limit, func() string {
				if looks++; looks < c.after {
					return "not yet"
				}
				return ""
			})
			if got != c.want {
				t.Errorf("Until() = %q after %d looks, want %q", got, looks, c.want)
			}
		})
	}
}
