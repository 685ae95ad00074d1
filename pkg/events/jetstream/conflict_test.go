package jetstream_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// answers plays a leader of SW_METRICS: it answers each publish of a subject
// by the next of some texts, and says that its last event has a sequence.
func answers(t *testing.T, url string, last int, texts ...string) (asked *atomic.Int32) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	asked = new(atomic.Int32)
	serve := func(subject string, answer func() string) {
		if _, err := nc.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(answer())) }); err != nil {
			t.Error(err)
		}
	}
	serve("sw.metric.c.s", func() string { return texts[min(int(asked.Add(1)), len(texts))-1] })
	serve("$JS.API.STREAM.NAMES", func() string { return `{"total":1,"streams":["SW_METRICS"]}` })
	serve("$JS.API.STREAM.MSG.GET.SW_METRICS", func() string {
		if last == 0 {
			return `{"error":{"code":404,"err_code":10037,"description":"no message found"}}`
		}
		return fmt.Sprintf(`{"message":{"subject":"sw.metric.c.s","seq":%d,"time":"2040-01-01T00:00:00Z"}}`, last)
	})
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return asked
}

// TestConflictThatIsNone: of several servers the leader refuses a subject
// while an event of it is on its way to the others, whatever is expected. That
// event can still get lost, so it is no conflict yet.
func TestConflictThatIsNone(t *testing.T) {
	t.Parallel()
	const (
		underWay = `{"error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}`
		stored   = `{"stream":"SW_METRICS","seq":9}`
	)
	for name, tc := range map[string]struct {
		expect       uint64
		last         int
		wantConflict bool
	}{
		"none, as expected":         {0, 0, false},
		"the one that was expected": {7, 7, false},
		"another one":               {7, 8, true},
		"one instead of none":       {0, 8, true},
		"none any more":             {7, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := eventstest.RunServer(t, func(o *server.Options) { o.JetStream = false })
			asked := answers(t, srv.URL(), tc.last, underWay, underWay, stored)
			bus := connect(t, jetstream.Options{URL: srv.URL()})
			_, err := bus.Publish(timeout(t), "sw.metric.c.s", eventstest.MetricEvent(t, "c", "s", 1), events.ExpectLast(tc.expect))
			if tc.wantConflict != errors.Is(err, events.ErrConflict) || !tc.wantConflict && err != nil {
				t.Errorf("Publish = %v after %d attempts", err, asked.Load())
			}
			if want := int32(3); !tc.wantConflict && asked.Load() != want {
				t.Errorf("%d attempts, want %d", asked.Load(), want)
			}
		})
	}
}
