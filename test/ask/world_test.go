// Package ask asks real services, on a real server, about decisions that
// they made.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/process/processtest"
	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"

	inquiry "github.com/spokewire/spokewire/services/inquiry/app"
	placementwriter "github.com/spokewire/spokewire/services/placement-writer/app"
)

const patience = 30 * time.Second

// world is a server with placement-writers and the inquiry service; the
// test is the bridge and the scorer.
type world struct {
	t   testing.TB
	bus *jetstream.Bus
	ask ask.Client
}

func newWorld(t testing.TB) *world { return newWorldOf(t, plainly) }

// view is how a placement-writer sees the bus.
type view func(decider.Bus) decider.Bus

func plainly(b decider.Bus) decider.Bus { return b }

// newWorldOf has a placement-writer for each view.
func newWorldOf(t testing.TB, writers ...view) *world {
	t.Helper()
	server := eventstest.RunServer(t)
	bus, err := jetstream.Connect(t.Context(), jetstream.Options{URL: server.URL(), Name: "test"})
	must(t, err)
	t.Cleanup(bus.Close)
	must(t, bus.EnsureStreams(t.Context(), events.Streams()))
	w := &world{t: t, bus: bus, ask: ask.Client{Bus: bus}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1+len(writers))
	for _, view := range writers {
		go func() { ended <- runWriter(t, ctx, server.URL(), view) }()
	}
	go func() {
		o := inquiry.DefaultOptions()
		o.Bus.URL = server.URL()
		ended <- inquiry.Run(ctx, o, processtest.Runtime(t))
	}()
	t.Cleanup(func() {
		cancel()
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	w.put(events.HubSubject(events.KindClusterSet, "", "default"), schemas.TypeHubClusterSet,
		&schemas.ClusterSet{Name: "default", UID: "set", SelectorType: "ExclusiveClusterSetLabel"})
	w.put(events.HubSubject(events.KindBinding, "default", "default"), schemas.TypeHubBinding,
		&schemas.Binding{Name: "default", Namespace: "default", UID: "binding", ClusterSet: "default"})
	w.eventually("the inquiry service answers", func() bool {
		_, err := w.ask.Replay(w.within(), schemas.ReplayAsk{Namespace: "default", Name: "none"})
		return !errors.Is(err, events.ErrNoResponder)
	})
	return w
}

func runWriter(t testing.TB, ctx context.Context, url string, view view) error {
	o, rt := placementwriter.DefaultOptions(), processtest.Runtime(t)
	o.Bus.URL = url
	bus, err := o.Bus.Connect(ctx, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	return placementwriter.RunOn(ctx, view(bus), o, rt)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) within() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

func (w *world) put(subject, eventType string, p schemas.Payload, opts ...events.PublishOption) uint64 {
	w.t.Helper()
	e, err := events.New(eventType, events.ServiceSource("hub-bridge"), p)
	must(w.t, err)
	ack, err := w.bus.Publish(w.within(), subject, e, opts...)
	must(w.t, err)
	return ack.Sequence
}

func (w *world) cluster(name string, change ...func(*schemas.Cluster)) {
	w.t.Helper()
	c := &schemas.Cluster{Name: name, UID: "uid-" + name, Labels: map[string]string{
		"cluster.open-cluster-management.io/clusterset": "default", "region": "eu",
	}}
	for _, f := range change {
		f(c)
	}
	w.put(events.HubSubject(events.KindCluster, "", name), schemas.TypeHubCluster, c)
}

// score says that a cluster has so much for an hour.
func (w *world) score(cluster, scorer string, value int32) {
	w.t.Helper()
	w.put(events.ScoreSubject(cluster, scorer), schemas.TypeScoreComputed, &schemas.Score{
		Cluster: cluster, Scorer: scorer, ValidFor: schemas.Duration(time.Hour),
		Items: []schemas.ScoreItem{{Name: scorer, Value: &value, Reason: schemas.ScoreComputedReason}},
	})
}

func (w *world) place(name, spec string, generation int64) {
	w.t.Helper()
	if !json.Valid([]byte(spec)) {
		w.t.Fatalf("not JSON: %s", spec)
	}
	w.put(events.HubSubject(events.KindPlacement, "default", name), schemas.TypeHubPlacement, &schemas.Placement{
		Name: name, Namespace: "default", UID: "uid-" + name, Generation: generation, Direct: true, Spec: json.RawMessage(spec),
	})
}

// one selects the best cluster of region eu by score gpu.
const one = `{"numberOfClusters":1,"predicates":[{"requiredClusterSelector":{"labelSelector":{"matchLabels":{"region":"eu"}}}}],
	"prioritizerPolicy":{"mode":"Exact","configurations":[{"weight":1,"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"gpu","scoreName":"gpu"}}}]}}`

// decision is the last one of a Placement, nil for none, and where it stands.
func (w *world) decision(name string) (*schemas.PlacementDecision, uint64) {
	w.t.Helper()
	m, err := w.bus.Last(w.within(), events.StreamDecisions, events.DecisionSubject(events.KindPlacement, "default", name))
	if errors.Is(err, events.ErrNotFound) {
		return nil, 0
	}
	must(w.t, err)
	r, err := events.Read(m)
	if err != nil {
		return nil, m.Sequence // garbage
	}
	d, _ := r.Payload.(*schemas.PlacementDecision)
	return d, m.Sequence
}

// decided waits until a Placement selects just these, and returns where that
// decision stands.
func (w *world) decided(name string, want ...string) uint64 {
	w.t.Helper()
	var at uint64
	w.eventually(fmt.Sprintf("%s selects %v", name, want), func() bool {
		d, sequence := w.decision(name)
		at = sequence
		return d != nil && slices.Equal(selected(d), want)
	})
	return at
}

func selected(d *schemas.PlacementDecision) []string {
	var names []string
	for _, c := range d.Clusters {
		names = append(names, c.Name)
	}
	return names
}

func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			d, _ := w.decision("train")
			w.t.Fatalf("did not come: %s; the decision is %+v", what, d)
		}
	}
}

// replay expects a verdict.
func (w *world) replay(name string, sequence uint64, want string) *schemas.ReplayAnswer {
	w.t.Helper()
	a, err := w.ask.Replay(w.within(), schemas.ReplayAsk{Namespace: "default", Name: name, Sequence: sequence})
	must(w.t, err)
	if a.Verdict != want {
		w.t.Fatalf("replay of %s@%d: %+v, want %s", name, sequence, a, want)
	}
	return a
}
