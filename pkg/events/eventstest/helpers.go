package eventstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// MetricEvent returns a valid metrics event with one sample.
func MetricEvent(t testing.TB, cluster, source string, value float64) event.Event {
	t.Helper()
	payload := &schemas.Metrics{Samples: []schemas.Sample{{Name: "value", Value: value}}}
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), payload)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// plainEvent is valid as an envelope; nobody looks at its data.
func plainEvent(id string) event.Event {
	e := event.New()
	e.SetID(id)
	e.SetSource("/services/test")
	e.SetType("dev.spokewire.test.v1")
	e.SetDataContentType("application/json")
	e.DataEncoded = []byte(`{}`)
	return e
}

func mustPublish(t *testing.T, p events.Publisher, subject string, e event.Event, opts ...events.PublishOption) events.Ack {
	t.Helper()
	ack, err := p.Publish(timeout(t), subject, e, opts...)
	if err != nil {
		t.Fatalf("publish %s: %v", e.ID(), err)
	}
	return ack
}

// timeout returns a context that ends with patience or with the test.
func timeout(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// idOf names the event in m, or says that there is none.
func idOf(m events.Message) string {
	e, err := events.Decode(m)
	if err != nil {
		return "?"
	}
	return e.ID()
}

// history returns the ids of all events of stream, oldest first.
func history(t *testing.T, w events.Watcher, stream string) []string {
	t.Helper()
	var ids []string
	err := w.Watch(timeout(t), events.Watch{Stream: stream, Since: time.Unix(1, 0)}, func(u events.Update) error {
		switch u.Kind {
		case events.Stored:
			ids = append(ids, idOf(u.Message))
		case events.Synced:
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("watch %s: %v", stream, err)
	}
	return ids
}

var errEnough = errors.New("enough")

// watching is a Watch whose updates a test takes one by one.
type watching struct {
	t       *testing.T
	updates chan events.Update
	cancel  context.CancelFunc
	ended   chan error
}

func startWatch(t *testing.T, w events.Watcher, watch events.Watch) *watching {
	ctx, cancel := context.WithCancel(t.Context())
	s := &watching{t: t, updates: make(chan events.Update, 1<<16), cancel: cancel, ended: make(chan error, 1)}
	go func() {
		s.ended <- w.Watch(ctx, watch, func(u events.Update) error {
			s.updates <- u
			return nil
		})
	}()
	t.Cleanup(cancel)
	return s
}

func (s *watching) next() events.Update {
	s.t.Helper()
	select {
	case u := <-s.updates:
		return u
	case err := <-s.ended:
		s.t.Fatalf("the watch ended: %v", err)
	case <-time.After(patience):
		s.t.Fatal("no update came")
	}
	return events.Update{}
}

// expect compares the next updates with lines like "stored ID",
// "gone SUBJECT", "synced" and "behind".
func (s *watching) expect(want ...string) {
	s.t.Helper()
	for i := range want {
		if got := describe(s.next()); got != want[i] {
			s.t.Fatalf("update is %q, want %q (of %s)", got, want[i], strings.Join(want, ", "))
		}
	}
}

func describe(u events.Update) string {
	switch u.Kind {
	case events.Stored:
		return "stored " + idOf(u.Message)
	case events.Gone:
		return "gone " + u.Message.Subject
	case events.Synced:
		return "synced"
	case events.Behind:
		return "behind"
	}
	return fmt.Sprintf("unknown kind %d", u.Kind)
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("did not come: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
