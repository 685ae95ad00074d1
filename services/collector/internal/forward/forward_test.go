package forward

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

func TestNewestFirstThenTheBacklogInOrder(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	f := newFixture(t, t.TempDir(), bus)
	f.options.Sources = []outbox.Source{alpha}
	for range 5 {
		f.put(alpha)
	}
	f.run()
	f.waitEmpty()
	want := []string{
		"sw.metric.c%2E1.alpha 5",
		"sw.backfill.c%2E1.alpha 1", "sw.backfill.c%2E1.alpha 2", "sw.backfill.c%2E1.alpha 3", "sw.backfill.c%2E1.alpha 4",
	}
	if diff := cmp.Diff(want, f.sent.all()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	for _, stream := range []string{events.StreamMetrics, events.StreamBackfill} {
		for _, m := range bus.Messages(stream) {
			if _, err := events.Read(m); err != nil {
				t.Errorf("a reader refuses it: %v", err)
			}
		}
	}
	if got := valueOf(f.metrics.forwarded.WithLabelValues("alpha", "backfill")); got != 4 {
		t.Errorf("forwarded counts %v, want 4", got)
	}
}

// The backlog waits until all sources are current again.
func TestAllCurrentBeforeAnyBacklog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, t.TempDir(), eventstest.NewBus())
	for range 3 {
		f.put(alpha)
		f.put(beta)
	}
	f.run()
	f.waitEmpty()
	for i, line := range f.sent.all() {
		if current := strings.HasPrefix(line, "sw.metric."); current != (i < 2) {
			t.Errorf("sent %v", f.sent.all())
			break
		}
	}
}

func TestRestartedCollectorBackfillsOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before := newFixture(t, dir, eventstest.NewBus())
	before.put(alpha)
	before.put(alpha)
	if err := before.store.Close(); err != nil {
		t.Fatal(err)
	}
	bus := eventstest.NewBus()
	f := newFixture(t, dir, bus)
	f.options.Sources = nil // not even configured any more
	f.run()
	f.waitEmpty()
	if n := len(bus.Messages(events.StreamMetrics)); n != 0 {
		t.Errorf("%d snapshots from before the restart are on SW_METRICS", n)
	}
	if n := len(bus.Messages(events.StreamBackfill)); n != 2 {
		t.Errorf("%d snapshots on SW_BACKFILL, want 2", n)
	}
}

func TestAgeIsOfEachAttempt(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	f := newFixture(t, t.TempDir(), bus)
	var ages []time.Duration
	f.sent.refuse = func(_ string, e event.Event) error {
		age, err := events.Age(e)
		if err != nil {
			return err
		}
		if ages = append(ages, age); len(ages) < 3 {
			return events.ErrNotFound
		}
		return nil
	}
	f.put(alpha)
	f.run()
	f.waitEmpty()
	if ages[0] >= ages[1] || ages[1] >= ages[2] {
		t.Errorf("ages are %v, want them to grow", ages)
	}
}

func TestNothingIsTriedWithoutAConnection(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	f := newFixture(t, t.TempDir(), bus)
	f.options.Sources = []outbox.Source{alpha}
	var mu sync.Mutex
	connected, asked := false, 0
	f.options.Connected = func() bool {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return connected
	}
	f.put(alpha)
	f.run()
	looked := func(n int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return asked >= n
		}
	}
	testwait.Eventually(t, "the forwarder looks for a connection", looked(5))
	last := f.put(alpha)
	if sent := f.sent.all(); len(sent) != 0 {
		t.Fatalf("sent without a connection: %v", sent)
	}
	mu.Lock()
	connected = true
	mu.Unlock()
	f.waitEmpty()
	if sent := f.sent.all(); sent[0] != fmt.Sprint("sw.metric.c%2E1.alpha ", last) || len(sent) != 2 {
		t.Errorf("sent %v", sent)
	}
}

func TestDeniedSourceHoldsUpNobody(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	f := newFixture(t, t.TempDir(), bus)
	f.sent.refuse = func(subject string, _ event.Event) error {
		if strings.HasSuffix(subject, ".alpha") {
			return fmt.Errorf("publish %s: %w", subject, events.ErrDenied)
		}
		return nil
	}
	for range 3 {
		f.put(alpha)
		f.put(beta)
	}
	f.run()
	testwait.Eventually(t, "all of beta is sent", func() bool { return len(f.sent.all()) == 3 })
	if n := f.store.Stats().Depth; n != 3 {
		t.Errorf("%d snapshots wait, want the 3 of alpha", n)
	}
	log := f.log.String()
	if !strings.Contains(log, "give the user permission") || !strings.Contains(log, "sw.metric.c%2E1.alpha") {
		t.Errorf("the log does not say what to do: %s", log)
	}
	if n := strings.Count(log, "subject=sw.metric"); n != 1 {
		t.Errorf("the refusal is logged %d times: %s", n, log)
	}
	if valueOf(f.metrics.failures.WithLabelValues("alpha", "metric", "Denied")) < patience {
		t.Error("the refusals are not counted")
	}
}

func TestTooLargeIsDropped(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	bus.SetMaxPayload(100)
	f := newFixture(t, t.TempDir(), bus)
	f.put(alpha)
	f.run()
	f.waitEmpty()
	if valueOf(f.metrics.failures.WithLabelValues("alpha", "metric", "TooLarge")) != 1 || !strings.Contains(f.log.String(), "is dropped") {
		t.Errorf("dropped silently: %s", f.log.String())
	}
}

func TestFullBackfillKeepsTheOutbox(t *testing.T) {
	t.Parallel()
	streams := events.Streams()
	for i := range streams {
		if streams[i].Name == events.StreamBackfill {
			streams[i].MaxBytes = 1000 // room for one or two
		}
	}
	bus := eventstest.NewBus(streams...)
	f := newFixture(t, t.TempDir(), bus)
	f.options.Sources = []outbox.Source{alpha}
	for range 6 {
		f.put(alpha)
	}
	f.run()
	full := f.metrics.failures.WithLabelValues("alpha", "backfill", "Full")
	var stored []string
	for len(stored) < 5 {
		before := valueOf(full)
		testwait.Eventually(t, "the stream is full or has all", func() bool {
			return valueOf(full) > before || f.store.Stats().Depth == 0
		})
		if n := len(stored) + len(bus.Messages(events.StreamBackfill)) + f.store.Stats().Depth; n < 5 {
			t.Fatalf("%d snapshots are accounted for, want 5", n)
		}
		for _, m := range bus.Messages(events.StreamBackfill) {
			stored = append(stored, m.Header.Get("ce-sequence"))
		}
		bus.Purge(events.BackfillSubject(alpha.Cluster, alpha.Name))
	}
	for i, sequence := range stored {
		if sequence != fmt.Sprintf("%020d", i+1) {
			t.Fatalf("stored %v, want 1 to 5", stored)
		}
	}
}

func TestLostAnswerStoresOnce(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	f := newFixture(t, t.TempDir(), bus)
	f.sent.loseAnswers = 2
	f.put(alpha)
	f.run()
	f.waitEmpty()
	if n := len(bus.Messages(events.StreamMetrics)); n != 1 {
		t.Errorf("stored %d times", n)
	}
}
