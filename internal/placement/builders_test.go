package placement

import (
	"encoding/json"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// world is a fleet under test, with set "default" bound in namespace
// "default".
type world struct {
	t     testing.TB
	fleet *Fleet
	now   time.Time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, fleet: NewFleet(), now: start}
	w.set("default")
	w.bind("default")
	return w
}

func (w *world) set(name string) {
	w.setFrom(&schemas.ClusterSet{Name: name, SelectorType: "ExclusiveClusterSetLabel"})
}

func (w *world) setFrom(s *schemas.ClusterSet) {
	w.t.Helper()
	if err := w.fleet.SetClusterSet(s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) bind(set string) {
	w.fleet.SetBinding(&schemas.Binding{Name: set, Namespace: "default", ClusterSet: set})
}

// cluster adds one to set "default"; changes are applied first.
func (w *world) cluster(name string, changes ...func(*schemas.Cluster)) {
	c := &schemas.Cluster{Name: name, UID: "uid-" + name, Labels: map[string]string{setLabel: "default"}, Claims: map[string]string{}}
	for _, change := range changes {
		change(c)
	}
	w.fleet.SetCluster(c)
}

const setLabel = "cluster.open-cluster-management.io/clusterset"

func inSet(name string) func(*schemas.Cluster) { return labelled(setLabel, name) }

func labelled(key, value string) func(*schemas.Cluster) {
	return func(c *schemas.Cluster) { c.Labels[key] = value }
}

func claimed(name, value string) func(*schemas.Cluster) {
	return func(c *schemas.Cluster) { c.Claims[name] = value }
}

func deleting(c *schemas.Cluster) { c.Deleting = true }

func taintedWith(key, value, effect string) func(*schemas.Cluster) {
	return func(c *schemas.Cluster) {
		c.Taints = append(c.Taints, schemas.Taint{Key: key, Value: value, Effect: effect, TimeAdded: start})
	}
}

func having(cpu, memory string) func(*schemas.Cluster) {
	return func(c *schemas.Cluster) {
		c.Allocatable = map[string]string{"cpu": cpu, "memory": memory}
		c.Capacity = c.Allocatable
	}
}

// score says that scorer, and its one item of that name, gives value to the
// cluster for validFor from now on.
func (w *world) score(cluster, scorer string, value int32, validFor time.Duration) bool {
	w.t.Helper()
	until := w.now.Add(validFor)
	s := &schemas.Score{Cluster: cluster, Scorer: scorer, ValidUntil: &until, Items: []schemas.ScoreItem{{Name: scorer, Value: &value, Reason: "Computed"}}}
	return w.fleet.SetScore(s, w.now, w.now)
}

func (w *world) noScore(cluster, scorer string) bool {
	s := &schemas.Score{Cluster: cluster, Scorer: scorer, Items: []schemas.ScoreItem{{Name: scorer, Reason: schemas.ScoreNoSample}}}
	return w.fleet.SetScore(s, w.now, w.now)
}

func annotated(key, value string) func(*schemas.Placement) {
	return func(p *schemas.Placement) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key] = value
	}
}

// place parses a Placement "default/p" with this spec.
func place(t testing.TB, spec clusterv1beta1.PlacementSpec, changes ...func(*schemas.Placement)) *Placement {
	t.Helper()
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	p := schemas.Placement{Name: "p", Namespace: "default", UID: "uid-p", Generation: 1, Direct: true, Spec: raw}
	for _, change := range changes {
		change(&p)
	}
	out, err := Parse(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (w *world) decide(p *Placement, prior *Prior) schemas.PlacementDecision {
	w.t.Helper()
	d := Decide(Input{Placement: p, Fleet: w.fleet, Prior: prior}, w.now)
	if err := d.Validate(); err != nil {
		w.t.Fatalf("decision is not valid: %v", err)
	}
	return d
}

// after makes d the prior decision.
func after(d schemas.PlacementDecision) *Prior { return &Prior{Decision: &d, Sequence: 1} }

// selecting is a prior decision of these clusters.
func selecting(names ...string) *Prior {
	d := schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "default", Name: "p", UID: "uid-p", Generation: 1},
		Mode:      schemas.ModeDirect, Scheduler: SchedulerSpokewire, Now: start,
	}
	for _, name := range names {
		d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: name})
	}
	return after(d)
}

func number(n int32) *int32 { return &n }

func exact(configs ...clusterv1beta1.PrioritizerConfig) clusterv1beta1.PrioritizerPolicy {
	return clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: configs}
}

func builtIn(name string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{Weight: weight, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: "BuiltIn", BuiltIn: name}}
}

func addOnOf(name string, weight int32) clusterv1beta1.PrioritizerConfig {
	return clusterv1beta1.PrioritizerConfig{Weight: weight, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
		Type: "AddOn", AddOn: &clusterv1beta1.AddOnScore{ResourceName: name, ScoreName: name},
	}}
}

func celPredicate(expressions ...string) clusterv1beta1.ClusterPredicate {
	return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: expressions},
	}}
}

func explanation(d schemas.PlacementDecision, cluster string) schemas.Explanation {
	for _, e := range d.Explanations {
		if e.Cluster == cluster {
			return e
		}
	}
	return schemas.Explanation{}
}

func scoresOf(d schemas.PlacementDecision) map[string]int64 {
	out := map[string]int64{}
	for _, c := range d.Clusters {
		out[c.Name] = c.Score
	}
	return out
}

func addOnScoreObject(cluster, name string, value int32) *schemas.AddOnScore {
	return &schemas.AddOnScore{Cluster: cluster, Name: name, Scores: map[string]int32{name: value}}
}
