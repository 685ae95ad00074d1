package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// TestEveryCheckCanFail breaks each invariant by one tap, and expects the
// check of that invariant to see it. Without a tap no check sees anything.
func TestEveryCheckCanFail(t *testing.T) {
	t.Parallel()
	for invariant, ts := range []taps{
		0: {},
		1: {publisher: tap{publish: acknowledgesSome}},
		2: {scorer: tap{deliver: withholds("sw.metric.spoke-2." + load.Metric)}},
		3: {writer: tap{publish: repeats}},
		4: {writer: tap{deliver: prolongs}},
		5: {writer: tap{publish: swaps}},
		6: {scorer: tap{deliver: believes}},
		7: {writer: tap{publish: bloats}},
		8: {scorer: tap{publish: forgets}},
	} {
		t.Run(fmt.Sprintf("invariant %d", invariant), func(t *testing.T) {
			t.Parallel()
			var found []fold.Violation
			// A break shows when chance brings a decision that it makes wrong.
			for try := range tries {
				if found = mutant(t, invariant, try, ts); invariant == 0 || sees(found, invariant) {
					break
				}
			}
			switch {
			case invariant == 0 && len(found) > 0:
				t.Errorf("nothing is broken, but: %v", found)
			case invariant > 0 && !sees(found, invariant):
				t.Errorf("the check of invariant %d saw nothing in %d runs; all that was seen in the last: %v", invariant, tries, found)
			}
		})
	}
}

// tries is how often a mutant runs at most, each time with another seed.
const tries = 5

// mutant runs the services in this process with taps, and returns what the checks
// see.
func mutant(t *testing.T, invariant, try int, ts taps) []fold.Violation {
	t.Helper()
	s := startSmall(t, played.seed+uint64(try), ts)
	return s.run(t, 2*time.Second, func() time.Time {
		if invariant == 0 || invariant == 4 {
			wait(t, brief.ValidFor+500*time.Millisecond) // for a score to expire
		}
		wait(t, time.Second)
		s.forge(t)
		return s.started
	})
}

func sees(found []fold.Violation, invariant int) bool {
	return slices.ContainsFunc(found, func(v fold.Violation) bool { return v.Invariant == invariant })
}

// forge publishes, in another cluster's place, what its source gives away.
// The bus in memory lets everybody, so the services have to see it.
func (s *small) forge(t *testing.T) {
	t.Helper()
	for range 5 {
		id := "m-forged-" + events.NewID()
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("spoke-1", load.Metric), &schemas.Metrics{Samples: []schemas.Sample{{Name: load.Metric, Value: 1000}}})
		must(t, err)
		e.SetID(id)
		_, err = s.bus.Publish(t.Context(), events.MetricSubject("spoke-2", load.Metric), e)
		must(t, err)
		s.traffic.blame(fold.Bad{Subject: events.MetricSubject("spoke-2", load.Metric), ID: id, Field: "source"})
		wait(t, 50*time.Millisecond)
	}
}

// acknowledgesSome says of every tenth event that it is stored.
func acknowledgesSome(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error) {
	if strings.Contains(subject, "audit-") && e.ID()[0] < 'D' {
		return events.Ack{Stream: events.StreamMetrics, Sequence: 1}, nil
	}
	return bus.Publish(ctx, subject, e, opts...)
}

// withholds delivers nothing of a subject after its first ten events.
func withholds(subject string) func(events.Update, func(events.Update) error) error {
	var seen atomic.Int32
	return func(u events.Update, fn func(events.Update) error) error {
		if u.Kind == events.Stored && u.Message.Subject == subject && seen.Add(1) > 10 {
			return nil
		}
		return fn(u)
	}
}

// repeats publishes each decision a second time, without asking what is
// there.
func repeats(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error) {
	ack, err := bus.Publish(ctx, subject, e, opts...)
	if err == nil && e.Type() == schemas.TypePlacementDecided {
		e.SetID(events.NewID())
		return bus.Publish(ctx, subject, e)
	}
	return ack, err
}

// prolongs makes the writer believe that scores hold for an hour longer, and
// hides from it that one is withdrawn.
func prolongs(u events.Update, fn func(events.Update) error) error {
	var s schemas.Score
	if u.Kind != events.Stored || u.Message.Stream != events.StreamScores || json.Unmarshal(u.Message.Data, &s) != nil {
		return fn(u)
	}
	if s.Items[0].Value == nil {
		return nil
	}
	if s.ValidUntil != nil {
		later := s.ValidUntil.Add(time.Hour)
		s.ValidUntil = &later
		u.Message.Data, _ = json.Marshal(s)
	}
	return fn(u)
}

// swaps selects, instead of the best cluster, another.
func swaps(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error) {
	return altered(ctx, bus, subject, e, opts, func(d *schemas.PlacementDecision) {
		for _, name := range load.Clusters {
			if len(d.Clusters) > 0 && !slices.ContainsFunc(d.Clusters, func(c schemas.SelectedCluster) bool { return c.Name == name }) {
				d.Clusters[0].Name = name
				return
			}
		}
	})
}

// bloats makes decisions larger than they may be.
func bloats(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error) {
	return altered(ctx, bus, subject, e, opts, func(d *schemas.PlacementDecision) { d.Message = strings.Repeat("x", 600<<10) })
}

func altered(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption, change func(*schemas.PlacementDecision)) (events.Ack, error) {
	var d schemas.PlacementDecision
	if e.Type() == schemas.TypePlacementDecided && json.Unmarshal(e.Data(), &d) == nil {
		change(&d)
		e.DataEncoded, _ = json.Marshal(d)
	}
	return bus.Publish(ctx, subject, e, opts...)
}

// believes makes the scorer take every event for its subject's own.
func believes(u events.Update, fn func(events.Update) error) error {
	s, err := events.ParseSubject(u.Message.Subject)
	if u.Kind == events.Stored && err == nil && s.Family == events.FamilyMetric {
		header := events.Header{}
		for key, values := range u.Message.Header {
			header[key] = values
		}
		header.Set("ce-source", events.ClusterSource(s.Cluster, s.Name))
		u.Message.Header = header
	}
	return fn(u)
}

// forgets keeps no dead letter.
func forgets(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error) {
	if strings.HasPrefix(subject, "sw.dead.") {
		return events.Ack{Stream: events.StreamDead, Sequence: 1}, nil
	}
	return bus.Publish(ctx, subject, e, opts...)
}
