package faults

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// TestRepeatedDeliveriesChangeNothing hands every event to the services
// twice, each of them published three times.
func TestRepeatedDeliveriesChangeNothing(t *testing.T) {
	t.Parallel()
	s := startSmall(t, played.seed, taps{scorer: tap{deliver: again}, writer: tap{deliver: again}})
	s.traffic.again = true
	for _, v := range s.run(t, 3*time.Second, func() time.Time {
		wait(t, 2*time.Second)
		return s.started
	}) {
		t.Error(v)
	}
}

// again delivers each stored event twice in a row.
func again(u events.Update, fn func(events.Update) error) error {
	if err := fn(u); err != nil || u.Kind != events.Stored {
		return err
	}
	return fn(u)
}

// TestJumpsOfServerTimeChangeNothing lets the clock of the bus jump an hour
// forth and back, and back and forth, while metrics flow.
func TestJumpsOfServerTimeChangeNothing(t *testing.T) {
	t.Parallel()
	s := startSmall(t, played.seed, taps{})
	var offset atomic.Int64
	s.bus.SetNow(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) })
	for _, v := range s.run(t, 3*time.Second, func() time.Time {
		wait(t, 500*time.Millisecond)
		for _, jump := range []time.Duration{time.Hour, 0, -time.Hour, 0} {
			offset.Store(int64(jump))
			wait(t, 700*time.Millisecond)
		}
		settled := time.Now()
		wait(t, 500*time.Millisecond)
		return settled
	}) {
		t.Error(v)
	}
}
