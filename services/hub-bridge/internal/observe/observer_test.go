package observe

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// empty is a hub without objects.
type empty struct{}

func (empty) Observed(string, string, string) (schemas.Payload, error) { return nil, nil }

// TestOnlySubjectsOfTheHubAreTombstoned, also where the stream holds others:
// by mistake, or by a stream that was set up by hand.
func TestOnlySubjectsOfTheHubAreTombstoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testOnlySubjectsOfTheHub)
}

func testOnlySubjectsOfTheHub(t *testing.T) {
	bus := eventstest.NewBus(events.Stream{Name: events.StreamHub, Subjects: []string{"sw.>"}, PerSubject: 8})
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	metrics := prometheus.NewRegistry()
	o := NewObserver(Options{
		Service: "test", Hub: empty{}, Bus: bus, Clock: events.NewClock(nil), Log: log, Metrics: metrics,
		All: func(func(kind, namespace, name string)) {},
	}, work.NewQueue("test", log, work.NewMetrics(metrics)))
	subjects := map[string]bool{ // whether it is tombstoned
		events.HubSubject(events.KindCluster, "", "ghost"):        true,
		events.ConfigSubject(events.KindCluster, "", "ghost"):     false,
		events.DecisionSubject(events.KindPlacement, "ns", "p"):   false,
		events.HubSubject(events.KindCluster, "", "ghost") + ".x": false,
	}
	for subject := range subjects {
		bus.Store(subject, nil, []byte("{}"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Ledger.Run(ctx, bus, Watch()) }()
	defer func() {
		cancel()
		o.Run(ctx, 1) // ends at once, and the queue with it
		<-done
	}()
	synctest.Wait() // the ledger has read the stream
	for subject := range subjects {
		if _, err := o.handle(t.Context(), subject); err != nil {
			t.Errorf("%s: %v", subject, err)
		}
	}
	for _, m := range bus.Messages(events.StreamHub) {
		if got := string(m.Data) != "{}"; got != subjects[m.Subject] {
			t.Errorf("%s holds %s", m.Subject, m.Data)
		}
	}
}
