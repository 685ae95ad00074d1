package wire_test

import (
	"context"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestTheConsumerReadsWhatTheFirehosePublishes(t *testing.T) {
	t.Parallel()
	server := eventstest.RunServer(t)
	bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	if err := bus.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	f, err := wire.Open(server.URL(), wire.Load{Clusters: []string{"a", "b"}, Source: "s", Samples: 3, Metric: "m", Range: 10, Every: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if err := f.Send(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	for _, decode := range []string{wire.DecodeJSON, wire.DecodeRead} {
		got, err := wire.Consume(t.Context(), server.URL(), 5, 16, decode)
		if err != nil || got.Events != 16 || got.Samples != 48 || got.Took <= 0 {
			t.Errorf("Consume() by %s = %+v, %v, want 16 events of 3 samples", decode, got, err)
		}
	}
	if _, err := wire.Consume(t.Context(), server.URL(), 1, 1, "guess"); err == nil {
		t.Error("Consume() takes any --decode")
	}

	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- f.Run(ctx, 1000) }()
	if _, err := wire.Consume(t.Context(), server.URL(), 21, 20, wire.DecodeRead); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	last, err := f.Last(t.Context())
	if err != nil || last < 40 {
		t.Errorf("Last() = %d, %v, want at least 40", last, err)
	}
	changesAsAsked(t, bus)
}

// changesAsAsked checks that the metric changes in every second event only.
func changesAsAsked(t *testing.T, bus *jetstream.Bus) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var values []float64
	err := bus.Watch(ctx, events.Watch{Stream: events.StreamMetrics, Since: time.Unix(1, 0)}, func(u events.Update) error {
		if u.Kind == events.Stored && len(values) < 20 {
			r, err := events.Read(u.Message)
			if err != nil {
				return err
			}
			values = append(values, r.Payload.(*schemas.Metrics).Samples[2].Value)
		}
		if len(values) == 20 {
			cancel()
		}
		return nil
	})
	if len(values) != 20 {
		t.Fatal(err)
	}
	for i := 2; i < 20; i++ {
		if changed := values[i] != values[i-2]; changed != (i%2 == 0) {
			t.Errorf("event %d changes the metric: %v", i, changed)
		}
	}
}
