package decider_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// spoiled publishes n times what cannot be read.
func spoiled(t *testing.T, b events.Publisher, cluster string, n int) {
	t.Helper()
	for range n {
		e := event.New()
		e.SetID(events.NewID())
		e.SetType(schemas.TypeMetricsObserved)
		e.SetSource(events.ClusterSource(cluster, "x"))
		e.SetDataContentType("application/json")
		e.DataEncoded = []byte(`{"samples":7}`)
		if _, err := b.Publish(context.Background(), events.MetricSubject(cluster, "x"), e); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestWhatWasOvertakenIsKept: a watch that begins anew has the last event of
// each subject only. The decider of the test keeps none by itself.
func TestWhatWasOvertakenIsKept(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		away func(t *testing.T, own *eventstest.Bus, stop func(), again func(), meanwhile func())
		want int
	}{
		"the connection is lost": {func(_ *testing.T, own *eventstest.Bus, _, _ func(), meanwhile func()) {
			own.Disconnect()
			meanwhile()
			own.Reconnect()
		}, 7},
		"the service is started again": {func(_ *testing.T, _ *eventstest.Bus, stop, again, meanwhile func()) {
			stop()
			meanwhile()
			again()
		}, 7},
		"it is away for too long": {func(_ *testing.T, own *eventstest.Bus, _, _ func(), meanwhile func()) {
			own.Disconnect()
			meanwhile()
			time.Sleep(time.Hour)
			own.Reconnect()
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				own := b.Peer()
				start := func() func() {
					e, _ := newLoop(t, own, events.Watch{Stream: events.StreamScores})
					return decidertest.Run(t, e)
				}
				stop := start()
				metric(t, b, "a") // is scored
				synctest.Wait()
				tc.away(t, own, stop, func() { start() }, func() {
					spoiled(t, b, "b", 7)
					metric(t, b, "c")
				})
				time.Sleep(time.Minute)
				if got := letters(t, b, "b"); got != tc.want {
					t.Errorf("%d letters, want %d", got, tc.want)
				}
			})
		})
	}
}

// TestWhatWasBeforeAServiceIsNotSwept: a service that never published was
// not away.
func TestWhatWasBeforeAServiceIsNotSwept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		spoiled(t, b, "b", 7)
		e, _ := newLoop(t, b, events.Watch{Stream: events.StreamScores})
		decidertest.Run(t, e)
		time.Sleep(time.Minute)
		if got := letters(t, b, "b"); got != 0 {
			t.Errorf("%d letters", got)
		}
	})
}

func letters(t *testing.T, b *eventstest.Bus, cluster string) int {
	t.Helper()
	n := 0
	for _, m := range b.Messages(events.StreamDead) {
		received, err := events.Read(m)
		if err != nil {
			t.Fatal(err)
		}
		if letter, ok := received.Payload.(*schemas.DeadLetter); !ok || letter.Subject != events.MetricSubject(cluster, "x") {
			t.Errorf("a letter of %s", m.Subject)
		}
		n++
	}
	return n
}
