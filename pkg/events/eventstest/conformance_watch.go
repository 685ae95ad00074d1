package eventstest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

func watchMetrics(t *testing.T, w events.Watcher) *watching {
	return startWatch(t, w, events.Watch{Stream: events.StreamMetrics})
}

func testWatch(t *testing.T, f Fixture) {
	empty := watchMetrics(t, f.Bus)
	synced := empty.next()
	if synced.Kind != events.Synced || time.Since(synced.Message.ReceivedAt).Abs() > time.Minute {
		t.Errorf("of nothing: %s at %v, want synced now", describe(synced), synced.Message.ReceivedAt)
	}
	mustPublish(t, f.Bus, metricA, plainEvent("a1"))
	mustPublish(t, f.Bus, metricB, plainEvent("b1"))
	mustPublish(t, f.Other, metricA, plainEvent("a2"))
	empty.expect("stored a1", "stored b1", "stored a2")
	w := watchMetrics(t, f.Bus)
	w.expect("stored b1", "stored a2", "synced")
	ack := mustPublish(t, f.Other, metricB, plainEvent("b2"))
	u := w.next()
	if m := u.Message; m.Stream != ack.Stream || m.Sequence != ack.Sequence || m.Subject != metricB || m.Deliveries != 0 || m.ReceivedAt.IsZero() {
		t.Errorf("message is %+v, want that of %+v", m, ack)
	}
}

// testWatchNoGap joins while each of several publishers counts up on a
// subject of its own.
func testWatchNoGap(t *testing.T, f Fixture) {
	const publishers, each = 16, 60 // a subject keeps 64, so none is dropped before it is read
	begun := make(chan struct{}, publishers)
	for i := range publishers {
		go func() {
			for n := range each {
				subject := fmt.Sprintf("sw.metric.c%d.x", i)
				if _, err := f.Other.Publish(t.Context(), subject, plainEvent(fmt.Sprintf("%d-%d", i, n))); err != nil {
					return
				}
				if n == each/10 {
					begun <- struct{}{}
				}
			}
		}()
	}
	for range publishers {
		<-begun
	}
	w := watchMetrics(t, f.Bus)
	last, synced := map[string]int{}, 0
	for finished := 0; finished < publishers || synced == 0; {
		u := w.next()
		if u.Kind == events.Synced {
			synced++
			continue
		}
		publisher, number, _ := strings.Cut(idOf(u.Message), "-")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("unexpected %s", describe(u))
		}
		if before, known := last[publisher]; known && n != before+1 {
			t.Fatalf("publisher %s: %d came after %d", publisher, n, before)
		}
		last[publisher] = n
		if n == each-1 {
			finished++
		}
	}
	if synced != 1 {
		t.Errorf("synced %d times, want once", synced)
	}
}

func testWatchFilters(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("a"))
	mustPublish(t, f.Bus, metricB, plainEvent("b"))
	mustPublish(t, f.Bus, metricC, plainEvent("c"))
	w := startWatch(t, f.Bus, events.Watch{Stream: events.StreamMetrics, Subjects: []string{"sw.metric.a.*", metricC}})
	w.expect("stored a", "stored c", "synced")
	mustPublish(t, f.Bus, metricB, plainEvent("b2"))
	mustPublish(t, f.Bus, metricC, plainEvent("c2"))
	w.expect("stored c2")
}

func testWatchReconnect(t *testing.T, f Fixture) {
	for _, subject := range []string{metricA, metricB, metricC} {
		mustPublish(t, f.Bus, subject, plainEvent(subject))
	}
	w := watchMetrics(t, f.Bus)
	w.expect("stored "+metricA, "stored "+metricB, "stored "+metricC, "synced")
	f.Disconnect()
	w.expect("behind")
	mustPublish(t, f.Other, metricA, plainEvent("skipped"))
	mustPublish(t, f.Other, metricA, plainEvent("a2"))
	mustPublish(t, f.Other, "sw.metric.d.x", plainEvent("d"))
	f.Purge(metricB)
	f.Reconnect()
	w.expect("stored a2", "stored d", "gone "+metricB, "synced")
	mustPublish(t, f.Other, metricB, plainEvent("b2"))
	w.expect("stored b2")
}

func testWatchReconnectUnchanged(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("a"))
	w := watchMetrics(t, f.Bus)
	w.expect("stored a", "synced")
	for range 3 {
		f.Disconnect()
		w.expect("behind")
		f.Reconnect()
		w.expect("synced")
	}
}

func testWatchSince(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("a1"))
	mustPublish(t, f.Bus, metricB, plainEvent("b1"))
	m, err := f.Bus.Last(timeout(t), events.StreamMetrics, metricB)
	if err != nil {
		t.Fatal(err)
	}
	mustPublish(t, f.Bus, metricA, plainEvent("a2"))
	mustPublish(t, f.Bus, metricA, plainEvent("a3"))
	w := startWatch(t, f.Bus, events.Watch{Stream: events.StreamMetrics, Since: m.ReceivedAt})
	w.expect("stored b1", "stored a2", "stored a3", "synced")
	mustPublish(t, f.Bus, metricA, plainEvent("a4"))
	w.expect("stored a4")
	future := startWatch(t, f.Bus, events.Watch{Stream: events.StreamMetrics, Since: time.Now().Add(-time.Minute), Subjects: []string{metricB}})
	future.expect("stored b1", "synced")
}

func testWatchSinceReconnect(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("a1"))
	mustPublish(t, f.Bus, metricB, plainEvent("b1"))
	w := startWatch(t, f.Bus, events.Watch{Stream: events.StreamMetrics, Since: time.Unix(1, 0)})
	w.expect("stored a1", "stored b1", "synced")
	mustPublish(t, f.Bus, metricA, plainEvent("a2"))
	w.expect("stored a2")
	f.Disconnect()
	w.expect("behind")
	mustPublish(t, f.Other, metricA, plainEvent("a3"))
	mustPublish(t, f.Other, metricA, plainEvent("a4"))
	f.Purge(metricB)
	f.Reconnect()
	w.expect("stored a3", "stored a4", "synced")
}

// testWatchPosition: the position at Synced covers what is not in the state,
// because its subject is another or it is gone.
func testWatchPosition(t *testing.T, f Fixture) {
	position := func(w *watching) uint64 {
		t.Helper()
		u := w.next()
		for u.Kind != events.Synced {
			u = w.next()
		}
		return u.Message.Sequence
	}
	if got := position(watchMetrics(t, f.Bus)); got != 0 {
		t.Errorf("of nothing: %d, want 0", got)
	}
	mustPublish(t, f.Bus, metricA, plainEvent("a"))
	gone := mustPublish(t, f.Bus, metricB, plainEvent("b"))
	f.Purge(metricB)
	if got := position(watchMetrics(t, f.Bus)); got != gone.Sequence {
		t.Errorf("with the newest event purged: %d, want %d", got, gone.Sequence)
	}
	other := mustPublish(t, f.Bus, metricC, plainEvent("c"))
	w := startWatch(t, f.Bus, events.Watch{Stream: events.StreamMetrics, Subjects: []string{metricA}})
	if got := position(w); got != other.Sequence {
		t.Errorf("with the newest event on another subject: %d, want %d", got, other.Sequence)
	}
	f.Disconnect()
	w.expect("behind")
	other = mustPublish(t, f.Other, metricC, plainEvent("c2"))
	f.Reconnect()
	if got := position(w); got != other.Sequence {
		t.Errorf("after a lost link: %d, want %d", got, other.Sequence)
	}
}

func testWatchEnds(t *testing.T, f Fixture) {
	boom := errors.New("boom")
	metrics := events.Watch{Stream: events.StreamMetrics}
	err := f.Bus.Watch(timeout(t), metrics, func(events.Update) error { return boom })
	if !errors.Is(err, boom) {
		t.Errorf("a callback that fails: err = %v, want its error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = f.Bus.Watch(ctx, metrics, func(events.Update) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ends: err = %v, want Canceled", err)
	}
	for name, w := range map[string]events.Watch{
		"no stream":       {},
		"a bad filter":    {Stream: events.StreamMetrics, Subjects: []string{"sw..a"}},
		"filters overlap": {Stream: events.StreamMetrics, Subjects: []string{"sw.metric.a.*", "sw.metric.*.x"}},
		"filters repeat":  {Stream: events.StreamMetrics, Subjects: []string{metricA, metricA}},
	} {
		err := f.Bus.Watch(timeout(t), w, func(events.Update) error { return nil })
		if !errors.Is(err, events.ErrInvalidOption) {
			t.Errorf("%s: err = %v, want ErrInvalidOption", name, err)
		}
	}
}

// hostile are messages that anybody may store who may publish.
func hostile() []events.Header {
	return []events.Header{
		nil,
		{"Status": {"409"}},
		{"Status": {"404"}, "Description": {"No Messages"}},
		{"Status": {"100"}, "Description": {"Idle Heartbeat"}},
		{"Status": {"408"}, "Nats-Pending-Messages": {"1000"}},
		{"Nats-Sequence": {"1"}, "Nats-Subject": {"sw.metric.victim.x"}, "Nats-Time-Stamp": {"2001-01-01T00:00:00Z"}},
	}
}

func testWatchHostile(t *testing.T, f Fixture) {
	for _, h := range hostile() {
		f.Store(metricA, h, nil)
	}
	f.Store(metricB, hostile()[1], nil)
	mustPublish(t, f.Bus, metricC, plainEvent("good"))
	w := watchMetrics(t, f.Bus)
	w.expect("stored ?", "stored ?", "stored good", "synced")
	for _, h := range hostile() {
		f.Store(metricA, h, nil)
		w.expect("stored ?")
	}
	mustPublish(t, f.Bus, metricC, plainEvent("still good"))
	w.expect("stored still good")
	m, err := f.Bus.Last(timeout(t), events.StreamMetrics, metricB)
	if err != nil || m.Subject != metricB || m.Header.Get("Status") != "409" {
		t.Errorf("last = %+v, %v, want the hostile message itself", m, err)
	}
}
