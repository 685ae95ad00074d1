package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

func TestClockJumpHoldsExpiries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "s", `metric("x")`, nil)
		metric(t, b, "alive", "node", "x=1")
		metric(t, b, "dead", "node", "x=1")
		synctest.Wait()
		b.SetNow(func() time.Time { return time.Now().Add(10 * time.Minute) })
		metric(t, b, "other", "node", "x=1") // shows the new time
		time.Sleep(30 * time.Second)
		expect(t, b, "alive", "s", "1 Computed")
		expect(t, b, "dead", "s", "1 Computed")
		metric(t, b, "alive", "node", "x=1")
		time.Sleep(31 * time.Second)
		expect(t, b, "alive", "s", "1 Computed", "1 Computed")
		expect(t, b, "dead", "s", "1 Computed", "- NoSample")
		if n := decidertest.Total(t, e.Counts.Jumps); n != 1 {
			t.Errorf("%d jumps counted, want 1", n)
		}
	})
}

// TestClockSetBack: what comes in after the server's clock was set back looks
// old, and is not taken for it.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "s", `metric("x")`, nil)
		metric(t, b, "alive", "node", "x=1")
		expect(t, b, "alive", "s", "1 Computed")
		b.SetNow(func() time.Time { return time.Now().Add(-time.Hour) })
		for range 4 {
			time.Sleep(10 * time.Second)
			metric(t, b, "alive", "node", "x=1")
		}
		expect(t, b, "alive", "s", "1 Computed")
		metric(t, b, "alive", "node", "x=2")
		time.Sleep(events.LeapHold - 20*time.Second) // since the first of them
		expect(t, b, "alive", "s", "1 Computed", "2 Computed")
		metric(t, b, "alive", "node", "x=3")
		expect(t, b, "alive", "s", "1 Computed", "2 Computed", "3 Computed")
		time.Sleep(time.Minute) // and expires by the new time
		expect(t, b, "alive", "s", "1 Computed", "2 Computed", "3 Computed", "- NoSample")
		if n := decidertest.Total(t, e.Counts.Jumps); n != 1 {
			t.Errorf("%d jumps counted, want 1", n)
		}
	})
}
