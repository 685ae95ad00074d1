package faults

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
)

// TestRepeatedDeliveriesChangeNothing hands every event to the services
// twice, each of them published three times.
func TestRepeatedDeliveriesChangeNothing(t *testing.T) {
	t.Parallel()
	each := func(tp tap) taps { return taps{publisher: tap{publish: tp.publish}, scorer: tp, writer: tp} }
	for name, ts := range map[string]taps{
		"in a row": each(tap{deliver: again}),
		"shuffled": each(tap{publish: delayed, delivers: shuffled}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSmall(t, played.seed, ts)
			s.traffic.again = true
			for _, v := range s.run(t, patience, func() time.Time {
				wait(t, 2*time.Second)
				return s.started
			}) {
				t.Error(v)
			}
		})
	}
}

// again delivers each stored event twice in a row.
func again(u events.Update, fn func(events.Update) error) error {
	if err := fn(u); err != nil || u.Kind != events.Stored {
		return err
	}
	return fn(u)
}

// delayed keeps each event back for another while, so that those of different
// subjects get into the log in any order. Nobody has two of one subject on
// their way at a time.
func delayed(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error) {
	select {
	case <-time.After(rand.N(20 * time.Millisecond)):
	case <-ctx.Done():
		return events.Ack{}, ctx.Err()
	}
	return bus.Publish(ctx, subject, e, opts...)
}

// shuffled delivers each stored event a second time, with events of other
// subjects in between: as late as before the next one of its subject. And it
// lets a watch fall behind the others, for each stream is in order by itself
// only.
func shuffled() deliver {
	var waiting []events.Update // at most one of a subject
	repeat := func(i int, fn func(events.Update) error) error {
		u := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		return fn(u)
	}
	return func(u events.Update, fn func(events.Update) error) error {
		if rand.IntN(20) == 0 {
			time.Sleep(rand.N(50 * time.Millisecond))
		}
		older := slices.IndexFunc(waiting, func(w events.Update) bool { return w.Message.Subject == u.Message.Subject })
		if older >= 0 {
			if err := repeat(older, fn); err != nil {
				return err
			}
		}
		if err := fn(u); err != nil {
			return err
		}
		if u.Kind == events.Stored {
			waiting = append(waiting, u)
		}
		for len(waiting) > 0 && (u.Kind != events.Stored || rand.IntN(2) == 0) {
			if err := repeat(rand.IntN(len(waiting)), fn); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestJumpsOfServerTimeChangeNothing lets the clock of the bus jump an hour
// forth and back, and back and forth, while metrics flow.
func TestJumpsOfServerTimeChangeNothing(t *testing.T) {
	t.Parallel()
	s := startSmall(t, played.seed, taps{})
	var offset atomic.Int64
	s.bus.SetNow(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) })
	for _, v := range s.run(t, patience, func() time.Time {
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
