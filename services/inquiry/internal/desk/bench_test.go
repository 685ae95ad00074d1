package desk_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
	"github.com/spokewire/spokewire/services/inquiry/internal/desk"
	"github.com/spokewire/spokewire/services/inquiry/internal/logtest"
)

// The largest fleet: each cluster has a source of 50 series and two scores,
// each Placement beside the one that is asked about three clusters.
const (
	benchClusters, benchSeries, benchPlacements = 10_000, 50, 1000
)

// load publishes many events at a time.
type load struct {
	bus   *jetstream.Bus
	group *errgroup.Group
}

func (l *load) put(subject, eventType, source string, p schemas.Payload) {
	l.group.Go(func() error {
		e, err := events.New(eventType, source, p)
		if err != nil {
			return err
		}
		_, err = l.bus.Publish(context.Background(), subject, e)
		return err
	})
}

func (l *load) cluster(i int) {
	name := fmt.Sprintf("cluster-%05d", i)
	l.put(events.HubSubject(events.KindCluster, "", name), schemas.TypeHubCluster, "/services/hub-bridge", &schemas.Cluster{
		Name: name, UID: "uid-" + name, Accepted: true,
		Labels:     map[string]string{"cluster.open-cluster-management.io/clusterset": "default", "region": fmt.Sprintf("r%d", i%20), "vendor": "OpenShift"},
		Claims:     map[string]string{"id.k8s.io": name, "kubeversion.open-cluster-management.io": "v1.37.2", "platform.open-cluster-management.io": "AWS"},
		Conditions: map[string]string{"ManagedClusterConditionAvailable": "True", "HubAcceptedManagedCluster": "True"},
		Capacity:   map[string]string{"cpu": "64", "memory": "256Gi"}, Allocatable: map[string]string{"cpu": "60", "memory": "240Gi"},
	})
	metrics := &schemas.Metrics{}
	for s := range benchSeries {
		metrics.Samples = append(metrics.Samples, schemas.Sample{Name: fmt.Sprintf("gpu_%02d", s), Labels: map[string]string{"node": fmt.Sprint(s % 10)}, Value: float64((i*7 + s) % 100)})
	}
	l.put(events.MetricSubject(name, "prom"), schemas.TypeMetricsObserved, events.ClusterSource(name, "prom"), metrics)
	for s, scorer := range []string{"gpu", "net"} {
		value := int32((i*7 + s*13) % 100) //nolint:gosec // it is below 100
		l.put(events.ScoreSubject(name, scorer), schemas.TypeScoreComputed, events.ScorerSource(name, scorer), &schemas.Score{
			Cluster: name, Scorer: scorer, ValidFor: schemas.Duration(time.Hour),
			Items: []schemas.ScoreItem{{Name: scorer, Value: &value, Reason: schemas.ScoreComputedReason}},
		})
	}
}

func (l *load) placement(name, spec string) {
	l.put(events.HubSubject(events.KindPlacement, "default", name), schemas.TypeHubPlacement, "/services/hub-bridge", &schemas.Placement{
		Name: name, Namespace: "default", UID: "uid-" + name, Generation: 1, Direct: true, Spec: json.RawMessage(spec),
	})
}

// benchFleet fills a server's streams.
func benchFleet(b *testing.B) *jetstream.Bus {
	b.Helper()
	server := eventstest.RunServer(b)
	bus, err := jetstream.Connect(b.Context(), jetstream.Options{URL: server.URL(), Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(bus.Close)
	if err := bus.EnsureStreams(b.Context(), events.Streams()); err != nil {
		b.Fatal(err)
	}
	l := &load{bus, new(errgroup.Group)}
	l.group.SetLimit(64)
	l.put(events.HubSubject(events.KindClusterSet, "", "default"), schemas.TypeHubClusterSet, "/services/hub-bridge",
		&schemas.ClusterSet{Name: "default", UID: "set", SelectorType: "ExclusiveClusterSetLabel"})
	l.put(events.HubSubject(events.KindBinding, "default", "default"), schemas.TypeHubBinding, "/services/hub-bridge",
		&schemas.Binding{Name: "default", Namespace: "default", UID: "binding", ClusterSet: "default"})
	hour := schemas.Duration(time.Hour)
	l.put(events.ConfigSubject(events.KindScorer, "", "gpu"), schemas.TypeConfigScorer, "/services/test", &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind, Metadata: schemas.Metadata{Name: "gpu"},
		Spec: schemas.ScorerSpec{CEL: `linear(metric("gpu_00") + metric("gpu_01"), 0, 200)`, ValidFor: &hour},
	})
	for i := range benchClusters {
		l.cluster(i)
	}
	const two = `{"numberOfClusters":3,"prioritizerPolicy":{"mode":%q,"configurations":[
		{"weight":1,"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"gpu","scoreName":"gpu"}}},
		{"weight":1,"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"net","scoreName":"net"}}}]}}`
	l.placement("alone", fmt.Sprintf(two, "Exact"))
	l.placement("balanced", fmt.Sprintf(two, "Additive"))
	for i := range benchPlacements {
		name := fmt.Sprintf("other-%04d", i)
		l.placement(name, logtest.OnGPU)
		d := logtest.Selecting(name, fmt.Sprintf("cluster-%05d", i))
		for j := range 2 {
			d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: fmt.Sprintf("cluster-%05d", i+(j+1)*benchPlacements)})
		}
		l.put(events.DecisionSubject(events.KindPlacement, "default", name), schemas.TypePlacementDecided, "/services/placement-writer", d)
	}
	if err := l.group.Wait(); err != nil {
		b.Fatal(err)
	}
	return bus
}

// BenchmarkAnswers is of the questions about one Placement that counts two
// scores, alone or balanced against a thousand others.
func BenchmarkAnswers(b *testing.B) {
	bus := benchFleet(b)
	d, err := desk.New(bus)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"alone", "balanced"} {
		decided := benchDecision(b, bus, name)
		best, worst := decided.Clusters[0].Name, "cluster-00000"
		questions := []struct {
			name string
			ask  func(context.Context) (any, error)
		}{
			{"explain/details", func(ctx context.Context) (any, error) {
				return d.Explain(ctx, &schemas.ExplainAsk{Namespace: "default", Name: name, Cluster: best})
			}},
			{"explain/recomputed", func(ctx context.Context) (any, error) {
				return d.Explain(ctx, &schemas.ExplainAsk{Namespace: "default", Name: name, Cluster: worst})
			}},
			{"whatif", func(ctx context.Context) (any, error) {
				return d.WhatIf(ctx, &schemas.WhatIfAsk{Namespace: "default", Name: name, Remove: []string{best}, Metrics: []schemas.WhatIfMetric{{Cluster: worst, Name: "gpu_00", Value: 90}}})
			}},
			{"replay", func(ctx context.Context) (any, error) {
				a, err := d.Replay(ctx, &schemas.ReplayAsk{Namespace: "default", Name: name})
				if err == nil && a.Verdict != schemas.ReplayEqual {
					err = fmt.Errorf("replayed as %+v", a)
				}
				return a, err
			}},
		}
		for _, q := range questions {
			b.Run(name+"/"+q.name, func(b *testing.B) {
				peak := watchHeap(b)
				for b.Loop() {
					if _, err := q.ask(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
			})
		}
	}
}

// benchDecision publishes what is decided of a Placement.
func benchDecision(b *testing.B, bus *jetstream.Bus, name string) *schemas.PlacementDecision {
	b.Helper()
	found, err := (&archive.Archive{Bus: bus}).Today(b.Context(), placement.Key{Namespace: "default", Name: name}, nil)
	if err != nil {
		b.Fatal(err)
	}
	decided := found.Decide()
	decided.Basis = found.Basis
	e, err := events.New(schemas.TypePlacementDecided, "/services/placement-writer", &decided)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := bus.Publish(b.Context(), events.DecisionSubject(events.KindPlacement, "default", name), e); err != nil {
		b.Fatal(err)
	}
	if len(decided.Clusters) != 3 || slices.ContainsFunc(decided.Explanations, func(e schemas.Explanation) bool { return e.Cluster == "cluster-00000" }) {
		b.Fatalf("decided %+v", decided.Clusters)
	}
	return &decided
}

// watchHeap looks at how much more of the heap is in use than before, until
// the function is called that it returns. The server's part is in it.
func watchHeap(b *testing.B) func() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			case <-stop:
				return
			}
		}
	}()
	b.Helper()
	return func() uint64 {
		close(stop)
		<-stopped
		return most.Load() - min(before, most.Load())
	}
}
