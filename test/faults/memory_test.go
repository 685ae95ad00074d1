package faults

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/e2e/fold"

	placementwriter "github.com/spokewire/spokewire/services/placement-writer/app"
	scorer "github.com/spokewire/spokewire/services/scorer/app"
)

// tap stands between one of the parties and the bus. A nil function passes
// everything on.
type tap struct {
	decider.Bus
	publish func(ctx context.Context, bus events.Publisher, subject string, e event.Event, opts []events.PublishOption) (events.Ack, error)
	deliver deliver
	// delivers makes a deliver for each watch.
	delivers func() deliver
}

// deliver hands an update on to fn.
type deliver func(u events.Update, fn func(events.Update) error) error

func (t tap) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	if t.publish == nil {
		return t.Bus.Publish(ctx, subject, e, opts...)
	}
	return t.publish(ctx, t.Bus, subject, e, opts)
}

// Request finds nobody: there are no collectors.
func (tap) Request(context.Context, string, []byte) ([]byte, error) {
	return nil, events.ErrNoResponder
}

func (t tap) Watch(ctx context.Context, w events.Watch, fn func(events.Update) error) error {
	hand := t.deliver
	switch {
	case t.delivers != nil:
		hand = t.delivers()
	case hand == nil:
		return t.Bus.Watch(ctx, w, fn)
	}
	return t.Bus.Watch(ctx, w, func(u events.Update) error { return hand(u, fn) })
}

// taps are those of a small world's parties.
type taps struct{ publisher, scorer, writer tap }

// small is the deciding services in this process, on a bus in memory, with a
// hub that has three clusters and the rules' Placements.
type small struct {
	bus     *eventstest.Bus
	scorers []process.Runtime
	traffic *traffic
	started time.Time
}

// startSmall runs two replicas of each service until the test ends.
func startSmall(t *testing.T, seed uint64, ts taps) *small {
	t.Helper()
	s := &small{bus: eventstest.NewBus(), started: time.Now()}
	s.describe(t)
	ts.publisher.Bus = s.bus.Peer()
	s.traffic = &traffic{bus: ts.publisher, seed: seed, prefix: "m-", pauses: true}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 4)
	for range 2 {
		writer, score := ts.writer, ts.scorer
		writer.Bus, score.Bus = s.bus.Peer(), s.bus.Peer()
		go func() { ended <- placementwriter.RunOn(ctx, writer, placementwriter.DefaultOptions(), quiet()) }()
		rt := quiet()
		s.scorers = append(s.scorers, rt)
		go func() { ended <- scorer.RunOn(ctx, score, scorer.DefaultOptions(), rt) }()
	}
	t.Cleanup(func() {
		cancel()
		for range 4 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	return s
}

func quiet() process.Runtime {
	return process.Runtime{
		Name: "test", Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Tracer: noop.NewTracerProvider(), Health: process.NewHealth(),
	}
}

// describe says what a bridge would have observed on the hub.
func (s *small) describe(t *testing.T) {
	t.Helper()
	objects, err := manifest.Parse([]byte(manifests))
	must(t, err)
	for _, o := range objects {
		request, isPlacement := o.Payload.(*schemas.PlacementRequest)
		if !isPlacement {
			s.put(t, o.Kind.Subject(o.Namespace, o.Name), o.Kind.EventType, o.Payload)
			continue
		}
		s.put(t, events.HubSubject(events.KindPlacement, o.Namespace, o.Name), schemas.TypeHubPlacement, &schemas.Placement{
			Namespace: o.Namespace, Name: o.Name, UID: "uid-" + o.Name, Generation: 1, Direct: true,
			Annotations: request.Metadata.Annotations, Spec: request.Spec,
		})
	}
	s.put(t, events.HubSubject(events.KindClusterSet, "", "default"), schemas.TypeHubClusterSet,
		&schemas.ClusterSet{Name: "default", UID: "set", SelectorType: "ExclusiveClusterSetLabel"})
	s.put(t, events.HubSubject(events.KindBinding, "default", "default"), schemas.TypeHubBinding,
		&schemas.Binding{Name: "default", Namespace: "default", UID: "binding", ClusterSet: "default"})
	for _, name := range load.Clusters {
		s.put(t, events.HubSubject(events.KindCluster, "", name), schemas.TypeHubCluster, &schemas.Cluster{
			Name: name, UID: "uid-" + name, Labels: map[string]string{"cluster.open-cluster-management.io/clusterset": "default"},
		})
	}
}

func (s *small) put(t *testing.T, subject, eventType string, p schemas.Payload) {
	t.Helper()
	e, err := events.New(eventType, events.ServiceSource("hub-bridge"), p)
	must(t, err)
	_, err = s.bus.Publish(t.Context(), subject, e)
	must(t, err)
}

// patience is for a machine that is busy with other tests: what the services
// owe on a quiet one stands in docs/faults.md, and is checked on real parts.
const patience = 15 * time.Second

// run lets traffic flow while strike does what it does, and returns which
// invariants were violated since.
func (s *small) run(t *testing.T, bound time.Duration, strike func() (since time.Time)) []fold.Violation {
	t.Helper()
	s.traffic.start(t.Context())
	since := strike()
	s.traffic.ample(t)
	s.traffic.stop()
	s.traffic.enough(t)
	var found []fold.Violation
	if differs := testwait.Until(t.Context(), bound, func() string { return s.differs(t) }); differs != "" {
		found = append(found, fold.Violation{Invariant: 2, Text: differs})
	}
	evidence := s.gather(t)
	var letters []fold.Violation
	testwait.Until(t.Context(), bound, func() string {
		evidence = s.gather(t)
		letters = fold.Buried(evidence, s.traffic.bad)
		for _, rt := range s.scorers {
			letters = append(letters, fold.Counted(evidence, access.Scorer, s.started, refusals(t, rt.Metrics))...)
		}
		if len(letters) > 0 {
			return letters[0].String()
		}
		return ""
	})
	made, violations := judge(evidence, since, false, s.traffic.audits(), nil)
	if made == 0 {
		t.Error("no score and no decision could be made again: the check means nothing")
	}
	return append(append(found, letters...), violations...)
}

func (s *small) gather(t *testing.T) fold.Evidence {
	t.Helper()
	var streams []string
	for _, stream := range events.Streams() {
		streams = append(streams, stream.Name)
	}
	evidence, err := fold.Gather(t.Context(), s.bus, time.Time{}, streams...)
	must(t, err)
	return evidence
}

// differs compares the last decision with what follows from the metrics.
func (s *small) differs(t *testing.T) string {
	t.Helper()
	log, err := fold.Read(t.Context(), s.bus, events.StreamMetrics, events.StreamScores, events.StreamDecisions)
	must(t, err)
	got, err := load.FromDecisions(log, time.Now())
	must(t, err)
	return load.Differs(got, log, time.Now())
}
