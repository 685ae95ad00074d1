package jetstream_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

func TestEnsureStreams(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	var running sync.WaitGroup
	for range 4 { // services that start at the same time
		running.Go(func() {
			bus := connect(t, jetstream.Options{URL: srv.URL()})
			if err := bus.EnsureStreams(timeout(t), events.Streams()); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	js := rawJetStream(t, srv.URL())
	for _, want := range events.Streams() {
		stream, err := js.Stream(timeout(t), want.Name)
		if err != nil {
			t.Fatal(err)
		}
		c := stream.CachedInfo().Config
		if c.AllowRollup == want.Ingest || c.AllowMsgTTL == want.Ingest || c.AllowDirect == want.Ingest {
			t.Errorf("%s: rollup %v, TTL %v, direct gets %v; ingest is %v", want.Name, c.AllowRollup, c.AllowMsgTTL, c.AllowDirect, want.Ingest)
		}
		if c.Duplicates != events.DedupeWindow || c.MaxConsumers <= 1000 || c.Storage != natsjs.FileStorage {
			t.Errorf("%s: %+v", want.Name, c)
		}
		if (c.Discard == natsjs.DiscardNew) != want.RefuseWhenFull {
			t.Errorf("%s: discards %v", want.Name, c.Discard)
		}
	}
}

func TestEnsureStreamsLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	js := rawJetStream(t, srv.URL())
	existing := natsjs.StreamConfig{
		Name: events.StreamMetrics, Subjects: []string{"sw.metric.*.*"}, MaxMsgsPerSubject: 64, MaxBytes: 4096 << 20,
		MaxAge: time.Hour, Duplicates: events.DedupeWindow, MaxConsumers: 100_000, AllowDirect: true,
	}
	if _, err := js.CreateStream(timeout(t), existing); err != nil {
		t.Fatal(err)
	}
	bus := connect(t, jetstream.Options{URL: srv.URL()})
	err := bus.EnsureStreams(timeout(t), events.Streams())
	var differs *jetstream.StreamDiffers
	if !errors.Is(err, jetstream.ErrStreamDiffers) || !errors.As(err, &differs) {
		t.Fatalf("err = %v, want ErrStreamDiffers", err)
	}
	want := []string{"MaxAge is 1h0m0s, want 24h0m0s", "AllowDirect is true, want false"}
	if differs.Stream != events.StreamMetrics || !slices.Equal(differs.Differences, want) {
		t.Errorf("%s differs by %q, want %q", differs.Stream, differs.Differences, want)
	}
	stream, err := js.Stream(timeout(t), events.StreamMetrics)
	if err != nil || stream.CachedInfo().Config.MaxAge != time.Hour {
		t.Errorf("the stream was altered: %v, %v", stream.CachedInfo().Config.MaxAge, err)
	}
	if _, err := js.Stream(timeout(t), events.StreamDead); err != nil {
		t.Errorf("the others were not created: %v", err)
	}
}
