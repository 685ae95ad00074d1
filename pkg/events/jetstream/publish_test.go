package jetstream_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// TestLostAnswer: the server stored the event but its answer did not come.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]events.PublishOption{
		"any":             nil,
		"compare and set": {events.ExpectLast(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := eventstest.RunServer(t)
			other := connectWithStreams(t, srv.URL())
			link := eventstest.NewLink(t, srv.Addr())
			bus := connect(t, jetstream.Options{URL: link.URL(), AckWait: 200 * time.Millisecond})
			e := eventstest.MetricEvent(t, "c", "s", 1)
			link.Deafen()
			published := make(chan error, 1)
			go func() {
				_, err := bus.Publish(timeout(t), "sw.metric.c.s", e, opts...)
				published <- err
			}()
			testwait.Eventually(t, "the event is stored", func() bool {
				_, err := other.Last(timeout(t), events.StreamMetrics, "sw.metric.c.s")
				return err == nil
			})
			select {
			case err := <-published:
				t.Fatalf("the publish ended without an answer: %v", err)
			default:
			}
			link.Cut()
			link.Restore()
			if err := <-published; err != nil {
				t.Fatal(err)
			}
			if got := ids(t, other, events.StreamMetrics); !slices.Equal(got, []string{e.ID()}) {
				t.Errorf("stored: %v, want it once", got)
			}
		})
	}
}

// TestPublishThroughRestarts: what was acknowledged is there, each once.
func TestPublishThroughRestarts(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t)
	bus := connectWithStreams(t, srv.URL())
	var want []string
	restarted := make(chan struct{})
	for n := 0; n < 40 || !isDone(restarted); n++ {
		if n == 10 {
			go func() {
				defer close(restarted)
				srv.Stop()
				srv.Start()
			}()
		}
		e := eventstest.MetricEvent(t, fmt.Sprintf("c%d", n), "s", 1)
		if _, err := bus.Publish(timeout(t), events.MetricSubject(fmt.Sprintf("c%d", n), "s"), e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e.ID())
	}
	if got := ids(t, bus, events.StreamMetrics); !slices.Equal(got, want) {
		t.Errorf("stored %d events, want the %d acknowledged ones in order", len(got), len(want))
	}
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestFullStream(t *testing.T) {
	t.Parallel()
	bus := connect(t, jetstream.Options{URL: eventstest.RunServer(t).URL()})
	small := events.Stream{Name: "SMALL", Subjects: []string{"small.*"}, MaxBytes: 4 << 10, RefuseWhenFull: true}
	if err := bus.EnsureStreams(timeout(t), []events.Stream{small}); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		_, err = bus.Publish(timeout(t), "small.x", eventstest.MetricEvent(t, "c", "s", 1))
	}
	if !errors.Is(err, events.ErrFull) {
		t.Errorf("err = %v, want ErrFull", err)
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	srv := eventstest.RunServer(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "hub", Password: "x"},
			{Username: "c1", Password: "x", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"sw.metric.c1.*"}}}},
		}
	})
	connectWithStreams(t, strings.Replace(srv.URL(), "nats://", "nats://hub:x@", 1))
	spoke := connect(t, jetstream.Options{URL: strings.Replace(srv.URL(), "nats://", "nats://c1:x@", 1), AckWait: 500 * time.Millisecond})
	e := eventstest.MetricEvent(t, "c1", "s", 1)
	if _, err := spoke.Publish(timeout(t), "sw.metric.c1.s", e); err != nil {
		t.Fatal(err)
	}
	if _, err := spoke.Publish(timeout(t), "sw.metric.c2.s", e); !errors.Is(err, events.ErrDenied) {
		t.Errorf("as another: err = %v, want ErrDenied", err)
	}
	// It may not read what the duplicate is, so it sends again.
	if _, err := spoke.Publish(timeout(t), "sw.metric.c1.s", e); err != nil {
		t.Errorf("repeated: %v", err)
	}
	first, err := spoke.Publish(timeout(t), "sw.metric.c1.t", eventstest.MetricEvent(t, "c1", "t", 1), events.WithMessageID("m"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := spoke.Publish(timeout(t), "sw.metric.c1.t", eventstest.MetricEvent(t, "c1", "t", 1), events.WithMessageID("m"), events.Repeated())
	if err != nil || again != first {
		t.Errorf("repeated and said so: %+v, %v, want %+v", again, err, first)
	}
}
