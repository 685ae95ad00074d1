package writer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const bridge = "/services/hub-bridge"

// start runs a writer until the test ends, or stop is called.
func start(t testing.TB, b decider.Bus, tracer trace.TracerProvider) (w *Writer, stop func()) {
	t.Helper()
	w, err := New(decidertest.Config(t, b, tracer))
	if err != nil {
		t.Fatal(err)
	}
	return w, decidertest.Run(t, w)
}

// hub publishes what a bridge and a scorer would.
type hub struct {
	t   testing.TB
	bus decider.Bus
}

func (h hub) publish(subject, eventType, source string, p schemas.Payload, opts ...events.PublishOption) events.Ack {
	h.t.Helper()
	e, err := events.New(eventType, source, p)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.send(subject, e, opts...)
}

func (h hub) send(subject string, e event.Event, opts ...events.PublishOption) events.Ack {
	h.t.Helper()
	ack, err := h.bus.Publish(context.Background(), subject, e, opts...)
	if err != nil {
		h.t.Fatal(err)
	}
	return ack
}

// fleet makes clusters in set "default", which is bound in namespace
// "default".
func (h hub) fleet(names ...string) {
	h.t.Helper()
	h.publish(events.HubSubject(events.KindClusterSet, "", "default"), schemas.TypeHubClusterSet, bridge,
		&schemas.ClusterSet{Name: "default", UID: "set", SelectorType: "ExclusiveClusterSetLabel"})
	h.publish(events.HubSubject(events.KindBinding, "default", "default"), schemas.TypeHubBinding, bridge,
		&schemas.Binding{Name: "default", Namespace: "default", UID: "binding", ClusterSet: "default"})
	for _, name := range names {
		h.cluster(name)
	}
}

func (h hub) cluster(name string, taints ...schemas.Taint) {
	h.t.Helper()
	h.publish(events.HubSubject(events.KindCluster, "", name), schemas.TypeHubCluster, bridge, &schemas.Cluster{
		Name: name, UID: "uid-" + name, Taints: taints,
		Labels: map[string]string{"cluster.open-cluster-management.io/clusterset": "default"},
	})
}

func (h hub) score(cluster string, value int32, validFor time.Duration) {
	h.t.Helper()
	h.publish(events.ScoreSubject(cluster, "gpu"), schemas.TypeScoreComputed, events.ScorerSource(cluster, "gpu"), &schemas.Score{
		Cluster: cluster, Scorer: "gpu", ValidFor: schemas.Duration(validFor),
		Items: []schemas.ScoreItem{{Name: "gpu", Value: &value, Reason: schemas.ScoreComputedReason}},
	})
}

const (
	onGPU     = `{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"gpu","scoreName":"gpu"}},"weight":1}]}}`
	onBalance = `{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"BuiltIn","builtIn":"Balance"},"weight":1}]}}`
)

// place publishes a direct Placement in namespace "default".
func (h hub) place(name, spec string, changes ...func(*schemas.Placement)) {
	h.t.Helper()
	p := &schemas.Placement{Name: name, Namespace: "default", UID: "uid-" + name, Generation: 1, Direct: true, Spec: json.RawMessage(spec)}
	for _, change := range changes {
		change(p)
	}
	h.publish(events.HubSubject(events.KindPlacement, "default", name), schemas.TypeHubPlacement, bridge, p)
}

func (h hub) delete(kind, namespace, name, uid string) {
	h.t.Helper()
	types := map[string]string{events.KindPlacement: schemas.TypeHubPlacementDeleted, events.KindCluster: schemas.TypeHubClusterDeleted}
	h.publish(events.HubSubject(kind, namespace, name), types[kind], bridge, &schemas.Deleted{Namespace: namespace, Name: name, UID: uid}, events.Tombstone())
}

func decisionSubject(name string) string {
	return events.DecisionSubject(events.KindPlacement, "default", name)
}

// last returns the last decision of a Placement, nil if there is none.
func (h hub) last(name string) *schemas.PlacementDecision {
	h.t.Helper()
	m, err := h.bus.Last(context.Background(), events.StreamDecisions, decisionSubject(name))
	if errors.Is(err, events.ErrNotFound) {
		return nil
	}
	if err != nil {
		h.t.Fatal(err)
	}
	r, err := events.Read(m)
	if err != nil {
		h.t.Fatal(err)
	}
	d, _ := r.Payload.(*schemas.PlacementDecision)
	return d
}

// await waits until the Placement's last decision selects exactly these
// clusters, in this order, and returns it.
func (h hub) await(name string, want ...string) *schemas.PlacementDecision {
	h.t.Helper()
	var d *schemas.PlacementDecision
	h.eventually("decision of "+name, func() bool {
		d = h.last(name)
		return d != nil && slices.Equal(placement.SelectedNames(d), want)
	}, func() any { return d })
	return d
}

// eventually polls; nothing announces that something was not yet stored.
func (h hub) eventually(what string, condition func() bool, state func() any) {
	h.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			h.t.Fatalf("%s did not come: %+v", what, state())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// decisions returns all decisions of a Placement that the memory bus holds.
func decisions(t testing.TB, b *eventstest.Bus, name string) (all []*schemas.PlacementDecision, sequences []uint64) {
	t.Helper()
	for _, m := range b.Messages(events.StreamDecisions) {
		if m.Subject != decisionSubject(name) {
			continue
		}
		r, err := events.Read(m)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := r.Payload.(*schemas.PlacementDecision); ok {
			all, sequences = append(all, d), append(sequences, m.Sequence)
		}
	}
	return all, sequences
}

// linear fails unless each decision names the one before it.
func linear(t testing.TB, b *eventstest.Bus, name string) {
	t.Helper()
	all, sequences := decisions(t, b, name)
	var before uint64
	for i, d := range all {
		forgotten := i == 0 && len(all) == 32 // as many as the stream keeps
		if d.Previous != before && !forgotten {
			t.Errorf("decision %d of %s names %d as the one before it, which is %d", sequences[i], name, d.Previous, before)
		}
		before = sequences[i]
	}
}

// refold reads the last event of every subject into a fleet.
func refold(t testing.TB, b *eventstest.Bus, f *placement.Fleet) {
	t.Helper()
	for _, stream := range []string{events.StreamHub, events.StreamScores} {
		for _, m := range b.Messages(stream) { // in order, so the last one stays
			r, err := events.Read(m)
			if err != nil {
				t.Fatal(err)
			}
			switch p := r.Payload.(type) {
			case *schemas.Cluster:
				f.SetCluster(p)
			case *schemas.ClusterSet:
				if err := f.SetClusterSet(p); err != nil {
					t.Fatal(err)
				}
			case *schemas.Binding:
				f.SetBinding(p)
			case *schemas.Score:
				f.SetScore(p, m.ReceivedAt, m.ReceivedAt)
			}
		}
	}
}
