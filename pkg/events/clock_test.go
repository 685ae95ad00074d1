package events_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := events.NewClock(nil)
		if got := c.Now(); !got.Equal(time.Now()) {
			t.Errorf("before any message Now = %v, want the local time", got)
		}
		server := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
		if moved := c.Observe(server); moved != 0 {
			t.Errorf("the first message moved it by %v", moved)
		}
		time.Sleep(90 * time.Second)
		if got, want := c.Now(), server.Add(90*time.Second); !got.Equal(want) {
			t.Errorf("Now = %v, want %v", got, want)
		}
		for name, test := range map[string]struct{ ahead, want time.Duration }{
			"an old message":       {-time.Hour, 0},
			"one from right now":   {0, 0},
			"one that is a second": {time.Second, time.Second},
		} {
			before := c.Now()
			if moved := c.Observe(before.Add(test.ahead)); moved != test.want || !c.Now().Equal(before.Add(test.want)) {
				t.Errorf("%s: moved by %v to %v, want by %v from %v", name, moved, c.Now(), test.want, before)
			}
		}
	})
}
