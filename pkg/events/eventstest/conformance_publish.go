package eventstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
)

const (
	metricA  = "sw.metric.a.x"
	metricB  = "sw.metric.b.x"
	metricC  = "sw.metric.c.x"
	decision = "sw.decision.placement.default.train"
)

func testPublish(t *testing.T, f Fixture) {
	e := MetricEvent(t, "a", "x", 1)
	e.SetExtension(events.ExtEpoch, "7")
	before := time.Now().Add(-time.Minute)
	ack := mustPublish(t, f.Bus, metricA, e)
	if ack.Stream != events.StreamMetrics || ack.Sequence != 1 {
		t.Errorf("ack = %+v, want %s 1", ack, events.StreamMetrics)
	}
	m, err := f.Bus.Last(timeout(t), events.StreamMetrics, metricA)
	if err != nil {
		t.Fatal(err)
	}
	if m.Stream != ack.Stream || m.Sequence != ack.Sequence || m.Subject != metricA || m.Deliveries != 0 {
		t.Errorf("message is %s %d %s, delivered %d times", m.Stream, m.Sequence, m.Subject, m.Deliveries)
	}
	if m.ReceivedAt.Before(before) || m.ReceivedAt.After(time.Now().Add(time.Minute)) {
		t.Errorf("ReceivedAt = %v", m.ReceivedAt)
	}
	got, err := events.Decode(m)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != e.String() {
		t.Errorf("read back:\n%s\nwant:\n%s", got, e)
	}
}

func testDedupe(t *testing.T, f Fixture) {
	e := plainEvent("one")
	first := mustPublish(t, f.Bus, metricA, e)
	if again := mustPublish(t, f.Bus, metricA, e); again != first {
		t.Errorf("published again: %+v, want %+v", again, first)
	}
	if again := mustPublish(t, f.Other, metricA, e); again != first {
		t.Errorf("published by another: %+v, want %+v", again, first)
	}
	if again := mustPublish(t, f.Bus, metricA, e, events.Repeated()); again != first {
		t.Errorf("published again, and said so: %+v, want %+v", again, first)
	}
	if got := history(t, f.Bus, events.StreamMetrics); !slices.Equal(got, []string{"one"}) {
		t.Errorf("stored: %v", got)
	}
}

// testTakenID: who guesses another's message id cannot make its events
// vanish.
func testTakenID(t *testing.T, f Fixture) {
	mustPublish(t, f.Other, metricB, plainEvent("thief"), events.WithMessageID("guessed"))
	mustPublish(t, f.Bus, metricA, plainEvent("victim"), events.WithMessageID("guessed"))
	mustPublish(t, f.Other, metricA, plainEvent("other"), events.WithMessageID("guessed"))
	if got, want := history(t, f.Bus, events.StreamMetrics), []string{"thief", "victim", "other"}; !slices.Equal(got, want) {
		t.Errorf("stored: %v, want %v", got, want)
	}
}

func testCompareAndSet(t *testing.T, f Fixture) {
	ctx := timeout(t)
	conflict := func(id string, last uint64) {
		t.Helper()
		if _, err := f.Bus.Publish(ctx, decision, plainEvent(id), events.ExpectLast(last)); !errors.Is(err, events.ErrConflict) {
			t.Errorf("%s after %d: err = %v, want ErrConflict", id, last, err)
		}
	}
	conflict("too early", 1)
	first := mustPublish(t, f.Bus, decision, plainEvent("first"), events.ExpectLast(0))
	conflict("not the first", 0)
	mustPublish(t, f.Bus, "sw.decision.placement.default.other", plainEvent("elsewhere"))
	second := mustPublish(t, f.Bus, decision, plainEvent("second"), events.ExpectLast(first.Sequence))
	conflict("too late", first.Sequence)
	third := mustPublish(t, f.Bus, decision, plainEvent("third"))
	conflict("overtaken", second.Sequence)
	mustPublish(t, f.Bus, decision, plainEvent("fourth"), events.ExpectLast(third.Sequence))
}

func testOneWriterWins(t *testing.T, f Fixture) {
	ctx := timeout(t)
	for round := range 10 {
		var wins atomic.Int32
		var writers sync.WaitGroup
		subject := fmt.Sprintf("sw.decision.placement.default.p%d", round)
		for i := range 8 {
			bus := []Roles{f.Bus, f.Other}[i%2]
			writers.Go(func() {
				_, err := bus.Publish(ctx, subject, plainEvent(fmt.Sprintf("%d-%d", round, i)), events.ExpectLast(0))
				switch {
				case err == nil:
					wins.Add(1)
				case !errors.Is(err, events.ErrConflict):
					t.Errorf("publish: %v", err)
				}
			})
		}
		writers.Wait()
		if wins.Load() != 1 {
			t.Errorf("round %d: %d writers won, want 1", round, wins.Load())
		}
	}
}

// testRepeatedCompareAndSet: whoever did not get the answer tries again, and
// learns that it has won.
func testRepeatedCompareAndSet(t *testing.T, f Fixture) {
	e := plainEvent("mine")
	first := mustPublish(t, f.Bus, decision, e, events.ExpectLast(0))
	for name, id := range map[string]string{"the same message id": "mine", "another message id": "fresh"} {
		if again := mustPublish(t, f.Bus, decision, e, events.ExpectLast(0), events.WithMessageID(id)); again != first {
			t.Errorf("%s: %+v, want %+v", name, again, first)
		}
	}
	if got := history(t, f.Bus, events.StreamDecisions); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("stored: %v", got)
	}
}

func testTombstone(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, decision, plainEvent("1"))
	mustPublish(t, f.Bus, "sw.decision.placement.default.other", plainEvent("other"))
	last := mustPublish(t, f.Bus, decision, plainEvent("2"))
	_, err := f.Bus.Publish(timeout(t), decision, plainEvent("stale"), events.ExpectLast(last.Sequence-1), events.Tombstone())
	if !errors.Is(err, events.ErrConflict) {
		t.Errorf("tombstone after a newer event: err = %v, want ErrConflict", err)
	}
	end := mustPublish(t, f.Bus, decision, plainEvent("end"), events.ExpectLast(last.Sequence), events.Tombstone())
	if got, want := history(t, f.Bus, events.StreamDecisions), []string{"other", "end"}; !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
	soon := func(o *events.PublishOptions) { o.Tombstone = time.Second }
	mustPublish(t, f.Bus, decision, plainEvent("soon"), events.ExpectLast(end.Sequence), soon)
	eventually(t, "the tombstone expires", func() bool {
		_, err := f.Bus.Last(timeout(t), events.StreamDecisions, decision)
		return errors.Is(err, events.ErrNotFound)
	})
	mustPublish(t, f.Bus, decision, plainEvent("again"), events.ExpectLast(0))
}

func testRefused(t *testing.T, f Fixture) {
	large := plainEvent("large")
	large.DataEncoded = bytes.Repeat([]byte("1"), 3<<20)
	nameless := plainEvent("x")
	nameless.SetType("")
	badExtension := plainEvent("x")
	badExtension.SetExtension("not-allowed", "x")
	for name, test := range map[string]struct {
		subject string
		event   event.Event
		want    error // nil: any
	}{
		"too large":               {metricA, large, events.ErrTooLarge},
		"no type":                 {metricA, nameless, nil},
		"a bad extension":         {metricA, badExtension, nil},
		"a wildcard":              {"sw.metric.*.x", plainEvent("x"), events.ErrBadSubject},
		"an empty token":          {"sw.metric..x", plainEvent("x"), events.ErrBadSubject},
		"white space":             {"sw.metric.a .x", plainEvent("x"), events.ErrBadSubject},
		"an unencoded line break": {"sw.metric.a\r\nPUB.x", plainEvent("x"), events.ErrBadSubject},
	} {
		_, err := f.Bus.Publish(timeout(t), test.subject, test.event)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: err = %v, want %v", name, err, test.want)
		}
	}
	if _, err := f.Bus.Publish(timeout(t), metricA, plainEvent("x"), events.Tombstone()); !errors.Is(err, events.ErrInvalidOption) {
		t.Errorf("a tombstone where spokes write: err = %v, want ErrInvalidOption", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := f.Bus.Publish(ctx, "sw.nowhere.a", plainEvent("x")); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("a subject without a stream: err = %v, want ErrNotFound", err)
	}
	if got := history(t, f.Bus, events.StreamMetrics); len(got) > 0 {
		t.Errorf("stored all the same: %v", got)
	}
}

func testPublishWaits(t *testing.T, f Fixture) {
	f.Disconnect()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Bus.Publish(ctx, metricA, plainEvent("given up")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while disconnected: err = %v, want DeadlineExceeded", err)
	}
	published := make(chan error, 1)
	go func() {
		_, err := f.Bus.Publish(timeout(t), metricA, plainEvent("kept"))
		published <- err
	}()
	mustPublish(t, f.Other, metricA, plainEvent("meanwhile"))
	f.Reconnect()
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	if got, want := history(t, f.Other, events.StreamMetrics), []string{"meanwhile", "kept"}; !slices.Equal(got, want) {
		t.Errorf("stored: %v, want %v: what was given up must not come later", got, want)
	}
}

func testLastOfNothing(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, metricB, plainEvent("other"))
	for name, where := range map[string][2]string{
		"no event":  {events.StreamMetrics, metricA},
		"no stream": {"SW_NONE", metricA},
	} {
		if _, err := f.Bus.Last(timeout(t), where[0], where[1]); !errors.Is(err, events.ErrNotFound) {
			t.Errorf("%s: err = %v, want ErrNotFound", name, err)
		}
	}
}
