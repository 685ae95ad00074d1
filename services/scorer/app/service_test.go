package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func connect(t *testing.T, s *eventstest.Server) *jetstream.Bus {
	t.Helper()
	b, err := jetstream.Connect(t.Context(), jetstream.Options{URL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// serve runs the service until the returned function is called, or the test
// ends, and waits until it is ready.
func serve(t *testing.T, s *eventstest.Server) (stop func()) {
	t.Helper()
	o := DefaultOptions()
	o.Bus.URL = s.URL()
	rt := processtest.Runtime(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, o, rt) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run = %v", err)
			}
		})
	}
	t.Cleanup(stop)
	testwait.Eventually(t, "the service is ready", func() bool { return rt.Health.CheckReady() == nil })
	return stop
}

func send(t *testing.T, b events.Publisher, subject, eventType, source string, p schemas.Payload, opts ...events.PublishOption) {
	t.Helper()
	e, err := events.New(eventType, source, p)
	if err == nil {
		_, err = b.Publish(t.Context(), subject, e, opts...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func sendMetric(t *testing.T, b events.Publisher, cluster string, value float64) {
	t.Helper()
	send(t, b, events.MetricSubject(cluster, "node"), schemas.TypeMetricsObserved, events.ClusterSource(cluster, "node"),
		&schemas.Metrics{Samples: []schemas.Sample{{Name: "x", Value: value}}})
}

func sendScorer(t *testing.T, b events.Publisher, cel string) {
	t.Helper()
	send(t, b, events.ConfigSubject(events.KindScorer, "", "s"), schemas.TypeConfigScorer, "/cli", &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: "s"}, Spec: schemas.ScorerSpec{CEL: cel},
	})
}

// value returns the last value of a cluster's score, and the sequence of its
// event.
func value(t *testing.T, b events.Getter, cluster string) (string, uint64) {
	t.Helper()
	m, err := b.Last(t.Context(), events.StreamScores, events.ScoreSubject(cluster, "s"))
	if errors.Is(err, events.ErrNotFound) {
		return "none", 0
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := r.Payload.(*schemas.Score)
	switch {
	case !ok:
		return "deleted", m.Sequence
	case s.Items[0].Value == nil:
		return s.Items[0].Reason, m.Sequence
	}
	return fmt.Sprint(*s.Items[0].Value), m.Sequence
}

func wantValue(t *testing.T, b events.Getter, cluster, want string) uint64 {
	t.Helper()
	var sequence uint64
	testwait.Eventually(t, "the score of "+cluster+" is "+want, func() bool {
		var got string
		got, sequence = value(t, b, cluster)
		return got == want
	})
	return sequence
}

// TestService applies, changes and deletes a scorer of a running service on
// a real server.
func TestService(t *testing.T) {
	t.Parallel()
	server := eventstest.RunServer(t)
	b := connect(t, server)
	if err := b.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	stop := serve(t, server)
	sendMetric(t, b, "spoke.1", 3)
	sendScorer(t, b, `metric("x")`)
	wantValue(t, b, "spoke.1", "3")
	sendMetric(t, b, "spoke.1", 4)
	wantValue(t, b, "spoke.1", "4")
	sendScorer(t, b, `metric("x") * 10.0`)
	sequence := wantValue(t, b, "spoke.1", "40")

	stop()
	serve(t, server) // what is equal is not published again: the next event is the next change
	sendMetric(t, b, "spoke.1", 5)
	if got := wantValue(t, b, "spoke.1", "50"); got != sequence+1 {
		t.Errorf("the score after the restart is event %d, want %d", got, sequence+1)
	}
	sendScorer(t, b, `metric("x"`)
	wantValue(t, b, "spoke.1", schemas.ScoreFailed)
	testwait.Eventually(t, "the scorer is dead-lettered", func() bool {
		m, err := b.Last(t.Context(), events.StreamDead, events.DeadSubject("scorer", events.StreamConfig, 3))
		return err == nil && m.Sequence > 0
	})
	send(t, b, events.ConfigSubject(events.KindScorer, "", "s"), schemas.TypeConfigScorerDeleted, "/cli", &schemas.Deleted{Name: "s"}, events.Tombstone())
	wantValue(t, b, "spoke.1", "deleted")
}

// TestServiceReplicas runs two services on one server: per subject there is
// one history, without repetitions, that ends at the last metric.
func TestServiceReplicas(t *testing.T) {
	t.Parallel()
	server := eventstest.RunServer(t)
	b := connect(t, server)
	if err := b.EnsureStreams(t.Context(), events.Streams()); err != nil {
		t.Fatal(err)
	}
	serve(t, server)
	serve(t, server)
	sendScorer(t, b, `metric("x")`)
	const clusters, rounds = 5, 40
	for round := range rounds {
		for c := range clusters {
			sendMetric(t, b, fmt.Sprintf("c%d", c), float64(round))
		}
	}
	for c := range clusters {
		wantValue(t, b, fmt.Sprintf("c%d", c), fmt.Sprint(rounds-1))
	}
	last := map[string]int32{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := b.Watch(ctx, events.Watch{Stream: events.StreamScores, Since: time.Unix(1, 0)}, func(u events.Update) error {
		if u.Kind == events.Synced {
			cancel()
			return ctx.Err()
		}
		r, err := events.Read(u.Message)
		if err != nil {
			return err
		}
		s := r.Payload.(*schemas.Score)
		if v, ok := last[s.Cluster]; ok && *s.Items[0].Value <= v {
			t.Errorf("score %d of %s follows %d", *s.Items[0].Value, s.Cluster, v)
		}
		last[s.Cluster] = *s.Items[0].Value
		return nil
	})
	if !errors.Is(err, context.Canceled) || len(last) != clusters {
		t.Errorf("Watch = %v, scores of %d clusters", err, len(last))
	}
}
