package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
	bus "github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var errSeen = errors.New("seen")

// mustWatch reads stream as the services do, and returns the first event.
func mustWatch(t *testing.T, who string, w events.Watcher, stream string) events.Message {
	t.Helper()
	var got events.Message
	err := w.Watch(within(t), events.Watch{Stream: stream}, func(u events.Update) error {
		if u.Kind != events.Stored {
			return nil
		}
		got = u.Message
		return errSeen
	})
	if !errors.Is(err, errSeen) {
		t.Fatalf("%s watches %s: %v", who, stream, err)
	}
	return got
}

// mustWork takes one event of stream off a durable consumer.
func mustWork(t *testing.T, who string, w events.Worker, stream string) {
	t.Helper()
	ctx, done := context.WithCancel(within(t))
	seen := false
	err := w.Work(ctx, events.Work{Stream: stream, Durable: who}, func(context.Context, events.Message) ([]events.Outgoing, error) {
		seen = true
		done()
		return nil, nil
	})
	if !seen {
		t.Fatalf("%s works on %s: %v", who, stream, err)
	}
}

func decisionOf(t *testing.T, name string) (string, *schemas.PlacementDecision) {
	t.Helper()
	return events.DecisionSubject(events.KindPlacement, "default", name), &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "default", Name: name, UID: "u"},
		Mode:      schemas.ModeDirect, Scheduler: "spokewire", Clusters: []schemas.SelectedCluster{},
		Cause: "Test", Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
}

// publishDecision decides as the placement-writer does: by compare-and-set.
func publishDecision(t *testing.T, b *bus.Bus, name string) string {
	t.Helper()
	subject, decision := decisionOf(t, name)
	e, err := events.New(schemas.TypePlacementDecided, events.ServiceSource(access.PlacementWriter), decision)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(within(t), subject, e, events.ExpectLast(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(within(t), subject, e, events.ExpectLast(0)); err != nil {
		t.Fatalf("the same event again: %v", err)
	}
	other, err := events.New(schemas.TypePlacementDecided, events.ServiceSource(access.PlacementWriter), decision)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(within(t), subject, other, events.ExpectLast(0)); !errors.Is(err, events.ErrConflict) {
		t.Fatalf("another event for the same place: %v, want ErrConflict", err)
	}
	return subject
}

func TestServicesUseTheBus(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	writer := connect(t, h.urlOf(t, access.PlacementWriter), access.PlacementWriter)
	subject := publishDecision(t, writer, "train")
	for _, name := range []string{access.HubBridge, access.PlacementWriter, access.Operator} {
		b := connect(t, h.urlOf(t, name), name)
		if m := mustWatch(t, name, b, events.StreamDecisions); m.Subject != subject {
			t.Errorf("%s reads %s, want %s", name, m.Subject, subject)
		}
		if _, err := b.Last(within(t), events.StreamDecisions, subject); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		mustWork(t, name, b, events.StreamDecisions)
	}
	m, err := writer.Last(within(t), events.StreamDecisions, subject)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // buried once
		if err := events.Bury(within(t), writer, access.PlacementWriter, m, errors.New("a test")); err != nil {
			t.Errorf("bury: %v", err)
		}
	}
}

// A service finds the streams in place, and says what is missing to it.
func TestServicesCheckTheStreams(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	scorer := connect(t, h.urlOf(t, access.Scorer), access.Scorer)
	var own []events.Stream
	for _, s := range events.Streams() {
		switch s.Name {
		case events.StreamMetrics, events.StreamHub, events.StreamConfig, events.StreamScores, events.StreamDead:
			own = append(own, s)
		}
	}
	if err := scorer.EnsureStreams(within(t), own); err != nil {
		t.Error(err)
	}
}

func TestOutsideReaderUsesTheBus(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	subject := publishDecision(t, connect(t, h.urlOf(t, access.PlacementWriter), access.PlacementWriter), "train")
	reader, err := bus.Connect(within(t), bus.Options{
		URL: h.urlOf(t, access.OutsiderUser("reader")), InboxPrefix: access.InboxPrefix("reader"), Domain: access.ReadDomain,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Close)
	m := mustWatch(t, "reader", reader, events.StreamDecisions)
	if got, err := events.Read(m); err != nil || m.Subject != subject {
		t.Errorf("read %+v of %s (%v), want the decision on %s", got.Payload, m.Subject, err, subject)
	}
	if last, err := reader.Last(within(t), events.StreamDecisions, subject); err != nil || last.Sequence != m.Sequence {
		t.Errorf("the last is %d (%v), want %d", last.Sequence, err, m.Sequence)
	}
}
