package jetstream_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// ids returns the ids of all events of stream, oldest first.
func ids(t *testing.T, bus events.Watcher, stream string) []string {
	t.Helper()
	var all []string
	enough := errors.New("enough")
	err := bus.Watch(timeout(t), events.Watch{Stream: stream, Since: time.Unix(1, 0)}, func(u events.Update) error {
		if u.Kind == events.Synced {
			return enough
		}
		e, err := events.Decode(u.Message)
		all = append(all, e.ID())
		return err
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	return all
}

// TestLostTail: the server comes back with an older store. A reader that
// resumed by sequence would miss what then gets known numbers.
func TestLostTail(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	bus := connectWithStreams(t, srv.URL())
	put := func(cluster string) string {
		t.Helper()
		e := eventstest.MetricEvent(t, cluster, "s", 1)
		if _, err := bus.Publish(timeout(t), events.MetricSubject(cluster, "s"), e); err != nil {
			t.Fatal(err)
		}
		return e.ID()
	}
	var want []string
	want = append(want, "stored "+put("a"), "stored "+put("b"), "synced")
	srv.Stop()
	kept := t.TempDir() + "/kept"
	if err := os.CopyFS(kept, os.DirFS(srv.StoreDir())); err != nil {
		t.Fatal(err)
	}
	srv.Start()
	updates := make(chan events.Update, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The bus may not have noticed yet that the server is there again.
	if _, err := bus.Last(timeout(t), events.StreamMetrics, "sw.metric.a.s"); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = bus.Watch(ctx, events.Watch{Stream: events.StreamMetrics}, func(u events.Update) error { updates <- u; return nil })
	}()
	expectUpdates(t, updates, want)
	expectUpdates(t, updates, []string{"stored " + put("b"), "stored " + put("c"), "stored " + put("d")})
	srv.Stop()
	expectUpdates(t, updates, []string{"behind"})
	if err := errors.Join(os.RemoveAll(srv.StoreDir()), os.CopyFS(srv.StoreDir(), os.DirFS(kept))); err != nil {
		t.Fatal(err)
	}
	// The new c gets the number that the lost b had.
	srv.Start()
	other := connect(t, jetstream.Options{URL: srv.URL()})
	e := eventstest.MetricEvent(t, "c", "s", 2)
	if ack, err := other.Publish(timeout(t), "sw.metric.c.s", e); err != nil || ack.Sequence != 3 {
		t.Fatalf("published as %+v, %v, want number 3", ack, err)
	}
	got := map[string]bool{}
	for kind := events.Stored; kind != events.Synced || !got["stored "+e.ID()]; {
		u := nextUpdate(t, updates)
		kind = u.Kind
		got[describe(u)] = true
	}
	for _, need := range []string{want[1], "gone sw.metric.d.s", "synced"} { // the old b is current again
		if !got[need] {
			t.Errorf("%q did not come; got %v", need, got)
		}
	}
}

func nextUpdate(t *testing.T, updates <-chan events.Update) events.Update {
	t.Helper()
	select {
	case u := <-updates:
		return u
	case <-time.After(30 * time.Second):
		t.Fatal("no update came")
		return events.Update{}
	}
}

func expectUpdates(t *testing.T, updates <-chan events.Update, want []string) {
	t.Helper()
	for _, w := range want {
		if got := describe(nextUpdate(t, updates)); got != w {
			t.Fatalf("update is %q, want %q", got, w)
		}
	}
}

func describe(u events.Update) string {
	switch u.Kind {
	case events.Stored:
		e, err := events.Decode(u.Message)
		if err != nil {
			return err.Error()
		}
		return "stored " + e.ID()
	case events.Gone:
		return "gone " + u.Message.Subject
	case events.Synced:
		return "synced"
	}
	return "behind"
}

// TestConsumerDeleted: a reader whose consumer the server forgot starts over.
func TestConsumerDeleted(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	bus := connectWithStreams(t, srv.URL())
	js := rawJetStream(t, srv.URL())
	updates := make(chan events.Update, 1000)
	go func() {
		_ = bus.Watch(t.Context(), events.Watch{Stream: events.StreamMetrics}, func(u events.Update) error { updates <- u; return nil })
	}()
	handled := make(chan string, 10)
	go func() {
		_ = bus.Work(t.Context(), events.Work{Stream: events.StreamMetrics, Durable: "worker"}, func(_ context.Context, m events.Message) ([]events.Outgoing, error) {
			handled <- m.Subject
			return nil, nil
		})
	}()
	expectUpdates(t, updates, []string{"synced"})
	stream, err := js.Stream(timeout(t), events.StreamMetrics)
	if err != nil {
		t.Fatal(err)
	}
	for deleted := 0; deleted < 2; {
		for name := range stream.ConsumerNames(timeout(t)).Name() {
			if err := stream.DeleteConsumer(timeout(t), name); err != nil {
				t.Fatal(err)
			}
			deleted++
		}
	}
	expectUpdates(t, updates, []string{"behind", "synced"})
	e := eventstest.MetricEvent(t, "c", "s", 1)
	if _, err := bus.Publish(timeout(t), "sw.metric.c.s", e); err != nil {
		t.Fatal(err)
	}
	expectUpdates(t, updates, []string{"stored " + e.ID()})
	select {
	case <-handled:
	case <-time.After(30 * time.Second):
		t.Fatal("the work did not go on")
	}
}
