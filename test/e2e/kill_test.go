package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

var loadRule = fold.Rule{
	Scorer: "load", Metric: "load_free", Low: 0, High: 1000,
	Placement: "default/load", Select: 2, Clusters: []string{"spoke-1", "spoke-2", "spoke-3"},
}

const loadManifests = `
apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: load}
spec: {cel: 'linear(metric("load_free"), 0, 1000)', validFor: 30m}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: load
  namespace: default
  annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}
spec:
  numberOfClusters: 2
  prioritizerPolicy:
    mode: Exact
    configurations: [{scoreCoordinate: {type: AddOn, addOn: {resourceName: load, scoreName: load}}}]
`

// TestKilledProcessesLoseNothing kills every process of the stack, one after
// the other and each at a seeded random moment, while metrics flow. Then the hub must be what a fold of the log says, and every event
// that was acknowledged must be in the log. SEED repeats a run.
func TestKilledProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	random := rand.New(rand.NewPCG(seed, 0))
	s := startStack(t, func(o *stack.Options) { o.Spokes = 3 })
	bus := operator(t, s)
	apply(t, s, loadManifests)

	ctx, cancel := context.WithCancel(t.Context())
	var publishers sync.WaitGroup
	logs := make([]*ackedLog, len(loadRule.Clusters))
	for i, cluster := range loadRule.Clusters {
		logs[i] = &ackedLog{cluster: cluster, random: rand.New(rand.NewPCG(seed, uint64(i+1)))}
		publishers.Go(func() { logs[i].publish(ctx, t, bus) })
	}
	victims := slices.DeleteFunc(s.Processes(), func(name string) bool { return strings.HasPrefix(name, "spoke-") })
	random.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	for _, victim := range victims {
		wait(t, time.Duration(random.IntN(700))*time.Millisecond)
		before := s.PID(victim)
		t.Logf("kill -9 %s", victim)
		if err := s.Kill(victim); err != nil {
			t.Fatal(err)
		}
		eventually(t, 20*time.Second, func() string {
			if s.PID(victim) == before {
				return victim + " was not started again"
			}
			return ""
		})
	}
	wait(t, 500*time.Millisecond)
	cancel()
	publishers.Wait()

	hub := hubOf(t, s)
	eventually(t, time.Minute, func() string { return differsFromLog(t, bus, hub) })
	for _, log := range logs {
		log.check(t, bus)
	}
}

// differsFromLog compares the hub with both folds of the log.
func differsFromLog(t *testing.T, bus events.Watcher, hub hubClients) string {
	t.Helper()
	log, err := fold.Read(t.Context(), bus, events.StreamMetrics)
	if err != nil {
		t.Fatal(err)
	}
	decided, err := fold.Read(t.Context(), bus, events.StreamScores, events.StreamDecisions)
	if err != nil {
		t.Fatal(err)
	}
	got, err := hubState(t.Context(), hub)
	if err != nil {
		return err.Error()
	}
	fromMetrics, err := loadRule.FromMetrics(log)
	if err != nil {
		t.Fatal(err)
	}
	fromDecisions, err := loadRule.FromDecisions(decided, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	if diff := fold.Diff(got, fromMetrics); diff != "" {
		lines = append(lines, "hub differs from the fold of the metrics: "+diff)
	}
	if diff := fold.Diff(got, fromDecisions); diff != "" {
		lines = append(lines, "hub differs from the last scores and decisions: "+diff)
	}
	return strings.Join(lines, "\n")
}

// hubState reads what the rule's objects on the hub say.
func hubState(ctx context.Context, hub hubClients) (fold.State, error) {
	state := fold.State{Scores: map[string]int32{}}
	scores, err := hub.ocm.ClusterV1alpha1().AddOnPlacementScores("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return state, err
	}
	for _, s := range scores.Items {
		if s.Name != loadRule.Scorer {
			continue
		}
		for _, item := range s.Status.Scores {
			state.Scores[s.Namespace] = item.Value
		}
	}
	namespace, name, _ := strings.Cut(loadRule.Placement, "/")
	decisions, err := hub.ocm.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return state, err
	}
	for _, d := range decisions.Items {
		for _, c := range d.Status.Decisions {
			state.Selected = append(state.Selected, c.ClusterName)
		}
	}
	slices.Sort(state.Selected)
	return state, nil
}

// ackedLog publishes metrics of one cluster and remembers what the bus said
// it has.
type ackedLog struct {
	cluster string
	random  *rand.Rand
	acked   map[string][]string // subject to event ids, in order
}

// auditsPerSource keeps a source's events below what the stream keeps of a
// subject.
const auditsPerSource = 50

// publish publishes the cluster's load, which is scored, and audits, which
// only have to be there afterwards.
func (l *ackedLog) publish(ctx context.Context, t *testing.T, bus events.Publisher) {
	l.acked = map[string][]string{}
	for n := 0; ctx.Err() == nil; n++ {
		load := &schemas.Metrics{Samples: []schemas.Sample{{Name: loadRule.Metric, Value: float64(l.random.IntN(1000))}}}
		audit := &schemas.Metrics{Samples: []schemas.Sample{{Name: "audit", Value: float64(n)}}}
		if err := errors.Join(
			l.store(bus, "load", load, false),
			l.store(bus, "audit-"+strconv.Itoa(n/auditsPerSource), audit, true),
		); err != nil {
			t.Errorf("publish: %v", err)
			return
		}
		pause := time.Duration(l.random.IntN(20)) * time.Millisecond
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// store publishes one event. It is not cut off in the middle, so that each
// event is either acknowledged or was never sent.
func (l *ackedLog) store(bus events.Publisher, source string, m *schemas.Metrics, remember bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(l.cluster, source), m)
	if err != nil {
		return err
	}
	subject := events.MetricSubject(l.cluster, source)
	if _, err := bus.Publish(ctx, subject, e); err != nil {
		return err
	}
	if remember {
		l.acked[subject] = append(l.acked[subject], e.ID())
	}
	return nil
}

// check reads the log again and compares it, event by event, with what was
// acknowledged.
func (l *ackedLog) check(t *testing.T, bus events.Watcher) {
	t.Helper()
	stored := map[string][]string{}
	done := errors.New("read")
	watch := events.Watch{Stream: events.StreamMetrics, Subjects: []string{"sw.metric." + events.EncodeToken(l.cluster) + ".*"}, Since: time.Unix(1, 0)}
	err := bus.Watch(t.Context(), watch, func(u events.Update) error {
		if u.Kind == events.Synced {
			return done
		}
		e, err := events.Decode(u.Message)
		if err != nil {
			return err
		}
		if strings.Contains(u.Message.Subject, ".audit-") {
			stored[u.Message.Subject] = append(stored[u.Message.Subject], e.ID())
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	count := 0
	for subject, ids := range l.acked {
		count += len(ids)
		if !slices.Equal(stored[subject], ids) {
			t.Errorf("%s holds %d events %v, acknowledged were %d %v", subject, len(stored[subject]), stored[subject], len(ids), ids)
		}
	}
	if count < 20 {
		t.Errorf("only %d events were published for %s, too few to mean anything", count, l.cluster)
	}
}

// apply types `spokewire apply`.
func apply(t *testing.T, s *stack.Stack, manifests string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := spokewire(t, s, "apply", "-f", file); err != nil {
		t.Fatalf("apply: %v\n%s", err, out)
	}
}

// seedOf returns SEED, or a random seed, and says which.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(fmt.Errorf("SEED: %w", err))
		}
		seed = n
	}
	t.Logf("SEED=%d repeats this run", seed)
	return seed
}

// wait lets real time pass: it spaces faults, no check depends on it.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
