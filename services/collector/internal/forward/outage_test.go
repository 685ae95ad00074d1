package forward

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// TestAnOutageOfHours cuts a spoke off for six hours of a simulated clock,
// with a snapshot every ten seconds before, meanwhile and after. Then the
// newest comes first, what is taken from then on is never held up, and the
// backlog follows in order, once, no faster than its rate, and as old as it
// is.
func TestAnOutageOfHours(t *testing.T) {
	t.Parallel()
	const every, outage, rate = 10 * time.Second, 6 * time.Hour, 5
	synctest.Test(t, func(t *testing.T) {
		bus := eventstest.NewBus()
		f := newFixture(t, t.TempDir(), bus)
		var connected atomic.Bool
		f.options.Sources, f.options.BackfillRate, f.options.Connected = []outbox.Source{alpha}, rate, connected.Load
		f.run()
		taken := map[uint64]time.Time{}
		snapshots := func(during time.Duration) (last uint64) {
			for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(every) {
				last = f.put(alpha)
				taken[last] = time.Now()
			}
			synctest.Wait()
			return last
		}
		connected.Store(true)
		before := snapshots(time.Minute)
		connected.Store(false)
		missed := snapshots(outage)
		if n := len(f.sent.all()); uint64(n) != before {
			t.Fatalf("%d snapshots came through a connection that is away, want %d", n, before)
		}
		back := time.Now()
		connected.Store(true)
		time.Sleep(every / 2)
		synctest.Wait()
		if first := f.sent.all()[before]; first != "sw.metric.c%2E1.alpha "+strconv.FormatUint(missed, 10) {
			t.Errorf("the first thing to come is %s, want the newest, %d", first, missed)
		}
		backlog := int(missed - before - 1)
		last := snapshots(time.Duration(backlog/rate)*time.Second + 2*time.Minute)
		if depth := f.store.Stats().Depth; depth != 0 {
			t.Fatalf("%d snapshots wait still", depth)
		}
		checkBacklog(t, bus, taken, before+1, missed-1, back, rate)
		checkCurrent(t, bus, taken, last, back)
	})
}

func checkBacklog(t *testing.T, bus *eventstest.Bus, taken map[uint64]time.Time, first, last uint64, back time.Time, rate int) {
	t.Helper()
	want, inSecond := first, map[int64]int{}
	for _, m := range bus.Messages(events.StreamBackfill) {
		r, sequence := read(t, m)
		if sequence != want {
			t.Fatalf("%d is on SW_BACKFILL where %d should be", sequence, want)
		}
		want++
		if off := r.ObservedAt.Sub(taken[sequence]).Abs(); off > time.Second {
			t.Errorf("%d was taken at %s and is said to be of %s", sequence, taken[sequence], r.ObservedAt)
		}
		inSecond[int64(m.ReceivedAt.Sub(back)/time.Second)]++
	}
	if want != last+1 {
		t.Errorf("the backlog ends with %d, want %d", want-1, last)
	}
	for second, n := range inSecond {
		if n > 2*rate {
			t.Errorf("%d of the backlog came in second %d, want about %d", n, second, rate)
		}
	}
}

// checkCurrent: what is current is in order, and was never held up by the
// backlog.
func checkCurrent(t *testing.T, bus *eventstest.Bus, taken map[uint64]time.Time, last uint64, back time.Time) {
	t.Helper()
	newest := uint64(0)
	for _, m := range bus.Messages(events.StreamMetrics) {
		_, sequence := read(t, m)
		if sequence <= newest {
			t.Errorf("%d comes after %d on SW_METRICS", sequence, newest)
		}
		newest = sequence
		due := taken[sequence]
		if due.Before(back) && m.ReceivedAt.After(back) {
			due = back
		}
		if late := m.ReceivedAt.Sub(due); late > time.Second {
			t.Errorf("%d came %s after it could", sequence, late)
		}
	}
	if newest != last {
		t.Errorf("the newest on SW_METRICS is %d, want %d", newest, last)
	}
}

func read(t *testing.T, m events.Message) (events.Received, uint64) {
	t.Helper()
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(strings.TrimSpace(sequenceOf(r.Event)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return r, n
}
