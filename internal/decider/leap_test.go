package decider_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// leaping runs an echo whose server's clock is set by so much, and shows it.
func leaping(t *testing.T, by time.Duration) (*eventstest.Bus, *echo) {
	t.Helper()
	b := eventstest.NewBus()
	e, _ := newLoop(t, b)
	decidertest.Run(t, e)
	metric(t, b, "a")
	e.expect(t, "begin", "stored a")
	b.SetNow(func() time.Time { return time.Now().Add(by) })
	for _, cluster := range []string{"b", "c", "d"} {
		metric(t, b, cluster)
		synctest.Wait()
	}
	return b, e
}

func TestForwardLeapIsWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, e := leaping(t, time.Hour)
		e.expect(t, "stored b", "stored c", "stored d") // goes on by the time before
		time.Sleep(events.LeapHold - time.Millisecond)
		synctest.Wait()
		if ahead := time.Until(e.Now()); ahead != 0 {
			t.Errorf("the clock is %v ahead", ahead)
		}
		e.expect(t)
		time.Sleep(time.Millisecond)
		e.expect(t, "begin")
		if ahead := time.Until(e.Now()); ahead != time.Hour {
			t.Errorf("the clock is %v ahead after the leap", ahead)
		}
		if n := decidertest.Total(t, e.Counts.Jumps); n != 1 {
			t.Errorf("%d alarms, want 1", n)
		}
	})
}

func TestNothingIsDecidedWhileTimeSeemsToGoBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, e := leaping(t, -time.Hour)
		time.Sleep(events.LeapHold - time.Millisecond)
		e.expect(t)
		time.Sleep(time.Millisecond)
		e.expect(t, "begin", "stored b", "stored c", "stored d")
		if ahead := time.Until(e.Now()); ahead != -time.Hour {
			t.Errorf("the clock is %v ahead after the leap", ahead)
		}
		if n := decidertest.Total(t, e.Counts.Jumps); n != 1 {
			t.Errorf("%d alarms, want 1", n)
		}
	})
}

func TestTimeThatIsPutRightIsNoLeap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, e := leaping(t, -time.Hour)
		e.expect(t)
		b.SetNow(time.Now)
		metric(t, b, "e")
		synctest.Wait()
		if said := e.heard(); len(said) != 4 || time.Until(e.Now()) != 0 {
			t.Errorf("said %q, the clock is %v ahead", said, time.Until(e.Now()))
		}
		time.Sleep(time.Hour)
		e.expect(t)
	})
}

// TestLeapWhileTheStreamsAreReadAgain: a server that was started again with
// its clock set back.
func TestLeapWhileTheStreamsAreReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		own := b.Peer()
		e, _ := newLoop(t, own)
		decidertest.Run(t, e)
		metric(t, b, "a")
		e.expect(t, "begin", "stored a")
		own.Disconnect()
		b.SetNow(func() time.Time { return time.Now().Add(-time.Hour) })
		metric(t, b, "b")
		own.Reconnect()
		e.expect(t, "begin") // and waits
		metric(t, b, "c")
		metric(t, b, "d")
		time.Sleep(events.LeapHold)
		e.expect(t, "begin", "stored b", "stored c", "stored d")
	})
}
