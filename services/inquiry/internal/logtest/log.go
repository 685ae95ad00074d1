// Package logtest writes, in tests, what the hub, scorers and deciders would.
package logtest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Log is a memory bus with a fleet on it: Placement default/train selects of
// clusters in set default, which is bound.
type Log struct {
	*eventstest.Bus
	t testing.TB
}

// OnGPU selects the best cluster by score gpu, Balanced the one that fewest
// others have.
const (
	OnGPU    = `{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"weight":1,"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"gpu","scoreName":"gpu"}}}]}}`
	Balanced = `{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[{"weight":1,"scoreCoordinate":{"type":"BuiltIn","builtIn":"Balance"}}]}}`
)

// New returns a Log whose clusters have as score gpu 90, 80 and so on.
func New(t testing.TB, clusters ...string) *Log {
	t.Helper()
	l := &Log{eventstest.NewBus(), t}
	l.Set("Exists")
	l.Put(events.HubSubject(events.KindBinding, "default", "default"), schemas.TypeHubBinding,
		&schemas.Binding{Name: "default", Namespace: "default", UID: "binding", ClusterSet: "default"})
	for i, name := range clusters {
		l.Cluster(name)
		l.Score(name, int32(90-10*i))
	}
	return l
}

// Put publishes p, and returns where it stands.
func (l *Log) Put(subject, eventType string, p schemas.Payload, opts ...events.PublishOption) uint64 {
	l.t.Helper()
	e, err := events.New(eventType, "/services/test", p)
	if err != nil {
		l.t.Fatal(err)
	}
	ack, err := l.Publish(context.Background(), subject, e, opts...)
	if err != nil {
		l.t.Fatal(err)
	}
	return ack.Sequence
}

// Garbage stores n events that nobody can read.
func (l *Log) Garbage(subject string, n int) {
	for range n {
		l.Store(subject, nil, []byte("{"))
	}
}

// Set declares set default by an operator on a label that each cluster has;
// one that there is none of makes no sense.
func (l *Log) Set(operator string) {
	l.t.Helper()
	selector, err := json.Marshal(map[string]any{"matchExpressions": []any{map[string]string{"key": "fleet", "operator": operator}}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.Put(events.HubSubject(events.KindClusterSet, "", "default"), schemas.TypeHubClusterSet,
		&schemas.ClusterSet{Name: "default", UID: "set", SelectorType: "LabelSelector", LabelSelector: selector})
}

// Cluster says what the hub has of a cluster.
func (l *Log) Cluster(name string, taints ...schemas.Taint) {
	l.t.Helper()
	l.Put(events.HubSubject(events.KindCluster, "", name), schemas.TypeHubCluster,
		&schemas.Cluster{Name: name, UID: "uid-" + name, Labels: map[string]string{"fleet": "yes"}, Taints: taints})
}

// Score has scorer gpu say something of a cluster, for an hour.
func (l *Log) Score(cluster string, value int32) {
	l.t.Helper()
	l.score(cluster, schemas.ScoreItem{Name: "gpu", Value: &value, Reason: schemas.ScoreComputedReason})
}

// Withdraw has scorer gpu take its score of a cluster back.
func (l *Log) Withdraw(cluster string) {
	l.t.Helper()
	l.score(cluster, schemas.ScoreItem{Name: "gpu", Reason: schemas.ScoreNoSample})
}

func (l *Log) score(cluster string, item schemas.ScoreItem) {
	l.t.Helper()
	l.Put(events.ScoreSubject(cluster, "gpu"), schemas.TypeScoreComputed,
		&schemas.Score{Cluster: cluster, Scorer: "gpu", ValidFor: schemas.Duration(time.Hour), Items: []schemas.ScoreItem{item}})
}

// Place says that the hub has a direct Placement.
func (l *Log) Place(name, spec string) {
	l.t.Helper()
	l.Put(events.HubSubject(events.KindPlacement, "default", name), schemas.TypeHubPlacement, &schemas.Placement{
		Name: name, Namespace: "default", UID: "uid-" + name, Generation: 1, Direct: true, Spec: json.RawMessage(spec),
	})
}

// Decided publishes a decision, and returns where it stands.
func (l *Log) Decided(d *schemas.PlacementDecision) uint64 {
	l.t.Helper()
	return l.Put(events.DecisionSubject(events.KindPlacement, d.Placement.Namespace, d.Placement.Name), schemas.TypePlacementDecided, d)
}

// Selecting is a decision on one cluster that somebody made now.
func Selecting(name, cluster string) *schemas.PlacementDecision {
	return &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "default", Name: name, UID: "uid-" + name, Generation: 1},
		Mode:      schemas.ModeDirect, Scheduler: placement.SchedulerSpokewire, Cause: placement.CauseFirst, Now: time.Now().UTC(),
		Clusters: []schemas.SelectedCluster{{Name: cluster}},
	}
}
