package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// unbounded are the streams with all that was ever stored, so that it can be
// counted.
func unbounded() []events.Stream {
	streams := events.Streams()
	for i := range streams {
		streams[i].PerSubject = 0
	}
	return streams
}

func connect(t testing.TB, url string) *jetstream.Bus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	return bus
}

var errSynced = errors.New("synced")

// stored returns what a stream holds of source, in order.
func stored(t testing.TB, bus *jetstream.Bus, stream, subject string) []events.Received {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var all []events.Received
	watch := events.Watch{Stream: stream, Subjects: []string{subject}, Since: time.Unix(1, 0)}
	err := bus.Watch(ctx, watch, func(u events.Update) error {
		switch u.Kind {
		case events.Synced:
			return errSynced
		case events.Stored:
			r, err := events.Read(u.Message)
			if err != nil {
				t.Errorf("a reader refuses an event: %v", err)
			}
			all = append(all, r)
		}
		return nil
	})
	if !errors.Is(err, errSynced) {
		t.Fatalf("watch %s: %v", stream, err)
	}
	return all
}

func sequencesOf(t testing.TB, all []events.Received) []uint64 {
	t.Helper()
	var sequences []uint64
	for _, r := range all {
		n, err := strconv.ParseUint(fmt.Sprint(r.Event.Extensions()[events.ExtSequence]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sequences = append(sequences, n)
	}
	return sequences
}

// Invariant 1, for the way from the outbox to the hub: the server is stopped
// and started again while snapshots are taken; each of them ends on one of
// the two streams, in order, the newest first.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	server := eventstest.RunServer(t)
	bus := connect(t, server.URL())
	if err := bus.EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, t.TempDir(), nil)
	f.options.Bus, f.options.Connected = bus, bus.Connected
	f.run()

	sources := []outbox.Source{alpha, beta}
	put := map[outbox.Source][]uint64{}
	putEach := func(n int) {
		for range n {
			for _, source := range sources {
				put[source] = append(put[source], f.put(source))
			}
		}
	}
	type outage struct{ from, newest int } // indices into put
	var outages []outage
	const count = 3
	for range count {
		putEach(40)
		server.Stop()
		from := len(put[alpha])
		putEach(40)
		outages = append(outages, outage{from, len(put[alpha]) - 1})
		server.Start()
		testwait.Eventually(t, "both sources are current", func() bool {
			return !f.store.HasNewest(alpha) && !f.store.HasNewest(beta)
		})
	}
	f.waitEmpty()

	for _, source := range sources {
		metric := stored(t, bus, events.StreamMetrics, events.MetricSubject(source.Cluster, source.Name))
		backfill := stored(t, bus, events.StreamBackfill, events.BackfillSubject(source.Cluster, source.Name))
		onMetric, onBackfill := sequencesOf(t, metric), sequencesOf(t, backfill)
		checkIncreasing(t, "SW_METRICS", onMetric)
		checkIncreasing(t, "SW_BACKFILL", onBackfill)
		both := slices.Sorted(slices.Values(append(slices.Clone(onMetric), onBackfill...)))
		if twice := len(both) - len(slices.Compact(slices.Clone(both))); twice > count {
			t.Errorf("%s: %d snapshots are on both streams, want one for each lost answer at most", source.Name, twice)
		}
		if got := slices.Compact(both); !slices.Equal(got, put[source]) {
			t.Errorf("%s: stored %v, want all of %v", source.Name, got, put[source])
		}
		for _, o := range outages {
			newest := slices.Index(onMetric, put[source][o.newest])
			if newest < 0 {
				t.Fatalf("%s: the newest of an outage, %d, is not on SW_METRICS", source.Name, put[source][o.newest])
			}
			for i, sequence := range onBackfill {
				if sequence >= put[source][o.from] && sequence < put[source][o.newest] &&
					backfill[i].Message.ReceivedAt.Before(metric[newest].Message.ReceivedAt) {
					t.Errorf("%s: %d of the backlog came before the newest, %d", source.Name, sequence, put[source][o.newest])
				}
			}
		}
	}
}

func checkIncreasing(t *testing.T, stream string, sequences []uint64) {
	t.Helper()
	for i := 1; i < len(sequences); i++ {
		if sequences[i] <= sequences[i-1] {
			t.Errorf("%s: %d comes after %d", stream, sequences[i], sequences[i-1])
		}
	}
}

// Answers that are lost on the way cost no snapshot and no order.
func TestDeafLink(t *testing.T) {
	t.Parallel()
	server := eventstest.RunServer(t)
	link := eventstest.NewLink(t, server.Addr())
	direct := connect(t, server.URL())
	if err := direct.EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	bus := connect(t, link.URL())
	f := newFixture(t, t.TempDir(), nil)
	f.options.Bus, f.options.Connected, f.options.AttemptTimeout = bus, bus.Connected, 200*time.Millisecond
	f.run()
	first := f.put(alpha)
	f.waitEmpty()
	link.Deafen()
	second := f.put(alpha)
	subject := events.MetricSubject(alpha.Cluster, alpha.Name)
	testwait.Eventually(t, "the second is stored, and not answered", func() bool {
		return len(stored(t, direct, events.StreamMetrics, subject)) == 2
	})
	link.Cut()
	link.Restore()
	f.waitEmpty()
	if got := sequencesOf(t, stored(t, direct, events.StreamMetrics, subject)); !slices.Equal(got, []uint64{first, second}) {
		t.Errorf("stored %v, want %v", got, []uint64{first, second})
	}
}
