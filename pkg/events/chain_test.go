package events_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

func failing(err error) events.Handler {
	return func(context.Context, events.Message) ([]events.Outgoing, error) { return nil, err }
}

func TestChainOrder(t *testing.T) {
	t.Parallel()
	var order []string
	note := func(name string) events.Decorator {
		return func(next events.Handler) events.Handler {
			return func(ctx context.Context, m events.Message) ([]events.Outgoing, error) {
				order = append(order, name)
				return next(ctx, m)
			}
		}
	}
	if _, err := events.Chain(failing(nil), note("outer"), note("inner"))(t.Context(), events.Message{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []string{"outer", "inner"}) {
		t.Errorf("order = %v", order)
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	e := newMetrics(t)
	returns := func(out ...events.Outgoing) events.Handler {
		return func(context.Context, events.Message) ([]events.Outgoing, error) { return out, nil }
	}
	h := events.Chain(returns(events.Outgoing{Subject: "sw.metric.c.s", Event: e, Options: []events.PublishOption{events.ExpectLast(0)}}), events.Publishing(bus))
	if out, err := h(t.Context(), events.Message{}); err != nil || len(out) > 0 {
		t.Fatalf("handler = %v, %v, want nothing left to publish", out, err)
	}
	if kept := bus.Messages(events.StreamMetrics); len(kept) != 1 {
		t.Errorf("%d events were stored, want 1", len(kept))
	}
	noID := newMetrics(t)
	noID.SetID("")
	for name, test := range map[string]struct {
		out           events.Outgoing
		want          error
		wantPermanent bool
	}{
		"a conflict is tried again": {events.Outgoing{Subject: "sw.metric.c.s", Event: newMetrics(t), Options: []events.PublishOption{events.ExpectLast(99)}}, events.ErrConflict, false},
		"a bad subject is not":      {events.Outgoing{Subject: "sw.metric.*.s", Event: e}, events.ErrBadSubject, true},
		"a bad event is not":        {events.Outgoing{Subject: "sw.metric.c.s", Event: noID}, events.ErrInvalidEvent, true},
	} {
		_, err := events.Chain(returns(test.out), events.Publishing(bus))(t.Context(), events.Message{})
		if !errors.Is(err, test.want) || events.IsPermanent(err) != test.wantPermanent {
			t.Errorf("%s: err = %v, permanent %v", name, err, events.IsPermanent(err))
		}
	}
}

func TestRecover(t *testing.T) {
	t.Parallel()
	h := events.Chain(func(context.Context, events.Message) ([]events.Outgoing, error) { panic("ouch") }, events.Recover())
	_, err := h(t.Context(), events.Message{Stream: "S", Sequence: 4})
	if !events.IsPermanent(err) || !strings.Contains(err.Error(), "S 4: the handler panicked: ouch") || !strings.Contains(err.Error(), "chain_test.go") {
		t.Errorf("err = %v, want a permanent one with the stack", err)
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	permanent, transient := events.Permanent(errors.New("hopeless")), errors.New("not now")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-late.Done()
	for name, test := range map[string]struct {
		ctx        context.Context
		err        error
		deliveries int // of 3
		wantKept   bool
		want       events.Disposition
	}{
		"done":                               {t.Context(), nil, 1, false, events.Done},
		"transient":                          {t.Context(), transient, 2, false, events.Retry},
		"transient, the last time":           {t.Context(), transient, 3, true, events.Drop},
		"permanent":                          {t.Context(), permanent, 1, true, events.Drop},
		"nobody answered":                    {t.Context(), nil, 4, true, events.Drop},
		"the last time, out of time":         {late, context.DeadlineExceeded, 3, true, events.Drop},
		"the last time, told to stop":        {stopped, context.Canceled, 3, false, events.Retry},
		"permanent, but told to stop before": {stopped, permanent, 1, false, events.Retry},
	} {
		bus := eventstest.NewBus()
		m := messageOf(t, "sw.metric.c.s", newMetrics(t))
		m.Deliveries, m.MaxDeliveries = test.deliveries, 3
		_, err := events.Chain(failing(test.err), events.DeadLetters(bus, "test"))(test.ctx, m)
		if got := events.Settle(m, err); got != test.want {
			t.Errorf("%s: settled as %v (%v), want %v", name, got, err, test.want)
		}
		if kept := len(bus.Messages(events.StreamDead)) == 1; kept != test.wantKept {
			t.Errorf("%s: kept = %v, want %v", name, kept, test.wantKept)
		}
	}
}

// TestDeadLettersKeepsOrRetries: what cannot be kept is not dropped, not
// even the last time.
func TestDeadLettersKeepsOrRetries(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	bus.Close()
	m := messageOf(t, "sw.metric.c.s", newMetrics(t))
	m.Deliveries, m.MaxDeliveries = 3, 3
	_, err := events.Chain(failing(events.Permanent(errors.New("hopeless"))), events.DeadLetters(bus, "test"))(t.Context(), m)
	if !errors.Is(err, events.ErrClosed) || events.Settle(m, err) != events.Retry {
		t.Errorf("err = %v, settled as %v, want Retry", err, events.Settle(m, err))
	}
}

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{
		0: 100 * time.Millisecond, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond,
		9: 25600 * time.Millisecond, 10: 30 * time.Second, 1 << 40: 30 * time.Second,
	} {
		if got := events.RetryDelay(n); got != want {
			t.Errorf("RetryDelay(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestDedup(t *testing.T) {
	t.Parallel()
	handled := 0
	var fail error
	h := events.Chain(func(context.Context, events.Message) ([]events.Outgoing, error) {
		handled++
		return nil, fail
	}, events.Dedup(2))
	run := func(subject, epoch, sequence string, deliveries int) bool {
		t.Helper()
		e := newMetrics(t)
		e.SetExtension(events.ExtEpoch, epoch)
		e.SetExtension(events.ExtSequence, sequence)
		m := messageOf(t, subject, e)
		m.Deliveries = deliveries
		before := handled
		if _, err := h(t.Context(), m); !errors.Is(err, fail) {
			t.Fatal(err)
		}
		return handled > before
	}
	for _, step := range []struct {
		name                     string
		subject, epoch, sequence string
		deliveries               int
		want                     bool
	}{
		{"the first", "sw.metric.a.s", "1", "0005", 1, true},
		{"the same again", "sw.metric.a.s", "1", "0005", 1, false},
		{"an older one", "sw.metric.a.s", "1", "0004", 1, false},
		{"an older one, handed out again", "sw.metric.a.s", "1", "0004", 2, true},
		{"the newest is still known", "sw.metric.a.s", "1", "0005", 1, false},
		{"the next", "sw.metric.a.s", "1", "0006", 1, true},
		{"a new store starts over", "sw.metric.a.s", "2", "0001", 1, true},
		{"another subject", "sw.backfill.a.s", "1", "0001", 1, true},
		{"a third pushes out the first", "sw.metric.b.s", "1", "0001", 1, true},
		{"which is then not known", "sw.metric.a.s", "1", "0001", 1, true},
		{"no number", "sw.metric.b.s", "", "", 1, true},
		{"no number, again", "sw.metric.b.s", "", "", 1, true},
	} {
		if got := run(step.subject, step.epoch, step.sequence, step.deliveries); got != step.want {
			t.Errorf("%s: handled = %v, want %v", step.name, got, step.want)
		}
	}
	fail = errors.New("not now")
	run("sw.metric.c.s", "1", "1", 1)
	fail = nil
	if !run("sw.metric.c.s", "1", "1", 1) {
		t.Error("an event whose handling failed was passed over")
	}
}
