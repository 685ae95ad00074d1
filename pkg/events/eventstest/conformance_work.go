package eventstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// working is a Work whose handler notes what it is given.
type working struct {
	mu     sync.Mutex
	seen   []string // "ID DELIVERY"
	ended  chan error
	cancel context.CancelFunc
}

func startWork(t *testing.T, w events.Worker, work events.Work, h func(context.Context, events.Message) error) *working {
	ctx, cancel := context.WithCancel(t.Context())
	s := &working{ended: make(chan error, 1), cancel: cancel}
	go func() {
		s.ended <- w.Work(ctx, work, func(ctx context.Context, m events.Message) ([]events.Outgoing, error) {
			s.mu.Lock()
			s.seen = append(s.seen, fmt.Sprintf("%s %d", idOf(m), m.Deliveries))
			s.mu.Unlock()
			return nil, h(ctx, m)
		})
	}()
	t.Cleanup(cancel)
	return s
}

func (s *working) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// stop ends the work and waits for it.
func (s *working) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	select {
	case err := <-s.ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the work ended with %v, want Canceled", err)
		}
	case <-time.After(patience):
		t.Fatal("the work did not end")
	}
}

func (s *working) waitFor(t *testing.T, n int) []string {
	t.Helper()
	eventually(t, fmt.Sprintf("%d deliveries", n), func() bool { return len(s.list()) >= n })
	return s.list()
}

func metricsWork() events.Work { return events.Work{Stream: events.StreamMetrics, Durable: "test"} }

func nothing(context.Context, events.Message) error { return nil }

func testWork(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("a"))
	mustPublish(t, f.Bus, metricB, plainEvent("b"))
	first := startWork(t, f.Bus, metricsWork(), nothing)
	got := slices.Sorted(slices.Values(first.waitFor(t, 2)))
	if want := []string{"a 1", "b 1"}; !slices.Equal(got, want) {
		t.Errorf("handled %v, want %v", got, want)
	}
	first.stop(t)
	mustPublish(t, f.Bus, metricA, plainEvent("c"))
	second := startWork(t, f.Bus, metricsWork(), nothing)
	if got := second.waitFor(t, 1); !slices.Equal(got, []string{"c 1"}) {
		t.Errorf("after a restart: handled %v, want only what is new", got)
	}
	filtered := metricsWork()
	filtered.Durable, filtered.Subjects = "other", []string{metricB}
	if got := startWork(t, f.Bus, filtered, nothing).waitFor(t, 1); !slices.Equal(got, []string{"b 1"}) {
		t.Errorf("with a filter: handled %v, want b", got)
	}
}

func testWorkRetry(t *testing.T, f Fixture) {
	for _, id := range []string{"good", "hopeless", "flaky"} {
		mustPublish(t, f.Bus, "sw.metric."+id+".x", plainEvent(id))
	}
	w := startWork(t, f.Bus, metricsWork(), func(_ context.Context, m events.Message) error {
		switch id := idOf(m); {
		case id == "hopeless":
			return events.Permanent(errors.New("never"))
		case id == "flaky" && m.Deliveries < 3:
			return errors.New("later")
		}
		return nil
	})
	want := []string{"flaky 1", "flaky 2", "flaky 3", "good 1", "hopeless 1"}
	if got := slices.Sorted(slices.Values(w.waitFor(t, len(want)))); !slices.Equal(got, want) {
		t.Errorf("handled %v, want %v", got, want)
	}
	w.stop(t)
	mustPublish(t, f.Bus, metricA, plainEvent("next"))
	if got := startWork(t, f.Bus, metricsWork(), nothing).waitFor(t, 1); !slices.Equal(got, []string{"next 1"}) {
		t.Errorf("later: handled %v, want only next", got)
	}
}

func testWorkOrder(t *testing.T, f Fixture) {
	const subjects, each = 3, 20
	for n := range each {
		for s := range subjects {
			mustPublish(t, f.Bus, fmt.Sprintf("sw.metric.c%d.x", s), plainEvent(fmt.Sprintf("%d-%d", s, n)))
		}
	}
	var mu sync.Mutex
	busy, order := map[string]bool{}, map[string][]uint64{}
	w := startWork(t, f.Bus, metricsWork(), func(_ context.Context, m events.Message) error {
		mu.Lock()
		if busy[m.Subject] {
			t.Errorf("two events of %s at a time", m.Subject)
		}
		busy[m.Subject] = true
		order[m.Subject] = append(order[m.Subject], m.Sequence)
		mu.Unlock()
		time.Sleep(time.Millisecond) // long enough for another to come in
		mu.Lock()
		defer mu.Unlock()
		busy[m.Subject] = false
		return nil
	})
	w.waitFor(t, subjects*each)
	w.stop(t)
	for subject, sequences := range order {
		if !slices.IsSorted(sequences) || len(sequences) != each {
			t.Errorf("%s: handled %v", subject, sequences)
		}
	}
}

func testWorkBounds(t *testing.T, f Fixture) {
	for i := range 10 {
		mustPublish(t, f.Bus, fmt.Sprintf("sw.metric.c%d.x", i), plainEvent(fmt.Sprint(i)))
	}
	work := metricsWork()
	work.MaxInFlight, work.AckWait = 2, time.Minute
	release, at := make(chan struct{}), make(chan time.Time, 10)
	w := startWork(t, f.Bus, work, func(ctx context.Context, _ events.Message) error {
		deadline, _ := ctx.Deadline()
		at <- deadline
		<-release
		return nil
	})
	w.waitFor(t, 2)
	if left := time.Until(<-at); left <= 0 || left > time.Minute {
		t.Errorf("the handler has %v, want at most AckWait", left)
	}
	release <- struct{}{}
	if got := w.waitFor(t, 3); len(got) != 3 {
		t.Errorf("%d events were out with one done, want 3", len(got))
	}
	close(release)
	w.waitFor(t, 10)
}

func testWorkLastDelivery(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("bad"))
	work := metricsWork()
	work.MaxDeliveries = 3
	last := make(chan bool, 10)
	w := startWork(t, f.Bus, work, func(_ context.Context, m events.Message) error {
		if m.MaxDeliveries == 3 && idOf(m) == "bad" {
			last <- m.LastDelivery()
		}
		return errors.New("still not")
	})
	w.waitFor(t, 3)
	if first, second, third := <-last, <-last, <-last; first || second || !third {
		t.Errorf("LastDelivery = %v, %v, %v, want only the third", first, second, third)
	}
	w.stop(t)
	mustPublish(t, f.Bus, metricA, plainEvent("next"))
	if got := startWork(t, f.Bus, work, nothing).waitFor(t, 1); !slices.Equal(got, []string{"next 1"}) {
		t.Errorf("later: handled %v, want only next", got)
	}
}

func testWorkReconnect(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("before"))
	w := startWork(t, f.Bus, metricsWork(), nothing)
	w.waitFor(t, 1)
	f.Disconnect()
	mustPublish(t, f.Other, metricA, plainEvent("meanwhile"))
	f.Reconnect()
	eventually(t, "what came meanwhile", func() bool { return slices.Contains(w.list(), "meanwhile 1") })
}

func testWorkHostile(t *testing.T, f Fixture) {
	for _, h := range hostile() {
		f.Store(metricA, h, nil)
	}
	mustPublish(t, f.Bus, metricA, plainEvent("good"))
	w := startWork(t, f.Bus, metricsWork(), nothing)
	got := w.waitFor(t, len(hostile())+1)
	if got[len(got)-1] != "good 1" || got[0] != "? 1" {
		t.Errorf("handled %v, want each once, in order", got)
	}
}

func testWorkEnds(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricA, plainEvent("long"))
	begun := make(chan struct{}, 1)
	w := startWork(t, f.Bus, metricsWork(), func(ctx context.Context, _ events.Message) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	<-begun
	w.stop(t)
	again := startWork(t, f.Other, metricsWork(), nothing)
	if got := again.waitFor(t, 1); !slices.Equal(got, []string{"long 2"}) {
		t.Errorf("the next worker handled %v, want what was left, a second time", got)
	}
	for name, work := range map[string]events.Work{
		"no stream":     {Durable: "x"},
		"no durable":    {Stream: events.StreamMetrics},
		"a bad durable": {Stream: events.StreamMetrics, Durable: "a.b"},
		"a bad filter":  {Stream: events.StreamMetrics, Durable: "x", Subjects: []string{"a..b"}},
		"a bad bound":   {Stream: events.StreamMetrics, Durable: "x", MaxDeliveries: -1},
	} {
		err := f.Bus.Work(timeout(t), work, func(context.Context, events.Message) ([]events.Outgoing, error) { return nil, nil })
		if !errors.Is(err, events.ErrInvalidOption) {
			t.Errorf("%s: err = %v, want ErrInvalidOption", name, err)
		}
	}
}
