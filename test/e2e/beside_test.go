package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/difftest/twin"
)

// beside is a hub with clusters left and right, both bound in namespace pull,
// and a scorer pull.
type beside struct {
	hub hubClients
	bus *jetstream.Bus
}

const pull = "pull"

// The names that the API server knows the writers by.
const (
	managerOCM = "placement"
	managerOur = "spokewire-hub-bridge"
)

func (b beside) prepare(t *testing.T, s *stack.Stack) {
	t.Helper()
	ctx, sets := t.Context(), b.hub.ocm.ClusterV1beta2()
	must(t, twin.CreateNamespace(ctx, b.hub.twin(), pull))
	must(t, created(sets.ManagedClusterSets().Create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: pull}}, metav1.CreateOptions{})))
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: pull}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: pull}}
	must(t, created(sets.ManagedClusterSetBindings(pull).Create(ctx, binding, metav1.CreateOptions{})))
	for _, name := range []string{"left", "right"} {
		c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: pull}}}
		c.Status.Conditions = []metav1.Condition{}
		must(t, twin.CreateCluster(ctx, b.hub.twin(), c))
	}
	apply(t, s, "apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: pull}\nspec: {cel: 'linear(metric(\"pull\"), 0, 100)', validFor: 30m}")
	b.measure(t, 50, 0)
}

// created drops the object that a client returns.
func created[T any](_ T, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// measure publishes a metric of each cluster.
func (b beside) measure(t *testing.T, left, right float64) {
	t.Helper()
	for cluster, value := range map[string]float64{"left": left, "right": right} {
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, pull), &schemas.Metrics{Samples: []schemas.Sample{{Name: pull, Value: value}}})
		must(t, err)
		_, err = b.bus.Publish(t.Context(), events.MetricSubject(cluster, pull), e)
		must(t, err)
	}
}

// place creates a Placement of the one cluster with the strongest pull.
func (b beside) place(t *testing.T, name string, direct bool) {
	t.Helper()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pull}, Spec: bestBy(pull)}
	if direct {
		p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	}
	must(t, created(b.hub.ocm.ClusterV1beta1().Placements(pull).Create(t.Context(), p, metav1.CreateOptions{})))
}

func (b beside) change(t *testing.T, name string, change func(*clusterv1beta1.Placement)) {
	t.Helper()
	placements := b.hub.ocm.ClusterV1beta1().Placements(pull)
	must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p, err := placements.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(p)
		return created(placements.Update(t.Context(), p, metav1.UpdateOptions{}))
	}))
}

func (b beside) pages(ctx context.Context, name string) ([]clusterv1beta1.PlacementDecision, error) {
	list, err := b.hub.ocm.ClusterV1beta1().PlacementDecisions(pull).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// decided waits until hub and bus both show that scheduler selected these
// clusters.
func (b beside) decided(t *testing.T, name, scheduler string, want ...string) {
	t.Helper()
	mode := map[string]string{"ocm": schemas.ModeNative, "spokewire": schemas.ModeDirect}[scheduler]
	testwait.Within(t, 30*time.Second, func() string {
		pages, err := b.pages(t.Context(), name)
		if err != nil {
			return err.Error()
		}
		p, err := b.hub.ocm.ClusterV1beta1().Placements(pull).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		d, err := b.decision(t.Context(), name)
		if err != nil {
			return fmt.Sprintf("Placement %s: the bus: %v", name, err)
		}
		onHub, onBus := difftest.Read(p, pages).Clusters, namesOf(d)
		if d.Mode != mode || d.Scheduler != scheduler || !slices.Equal(onBus, want) || !slices.Equal(onHub, want) ||
			int(p.Status.NumberOfSelectedClusters) != len(want) || d.Placement.UID != string(p.UID) {
			return fmt.Sprintf("Placement %s: the hub has %v (status: %d), the bus %v by %s, mode %s; want %v by %s; the hub's scores are %v",
				name, onHub, p.Status.NumberOfSelectedClusters, onBus, d.Scheduler, d.Mode, want, scheduler, b.scores(t.Context()))
		}
		return ""
	})
}

// explained waits until a Placement has our condition, or has it no more,
// beside OCM's two.
func (b beside) explained(t *testing.T, name string, want bool) {
	t.Helper()
	testwait.Within(t, 30*time.Second, func() string {
		p, err := b.hub.ocm.ClusterV1beta1().Placements(pull).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		types := []string{}
		for _, c := range p.Status.Conditions {
			types = append(types, c.Type)
		}
		ours := slices.Contains(types, bridge.ConditionExplained)
		if ours != want || !slices.Contains(types, clusterv1beta1.PlacementConditionSatisfied) || !slices.Contains(types, clusterv1beta1.PlacementConditionMisconfigured) {
			return fmt.Sprintf("Placement %s has the conditions %v, want OCM's and ours: %t", name, types, want)
		}
		return ""
	})
}

func namesOf(d *schemas.PlacementDecision) []string {
	names := []string{}
	for _, c := range d.Clusters {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// scores are what the hub has of our scorer, by cluster.
func (b beside) scores(ctx context.Context) map[string][]clusterv1alpha1.AddOnPlacementScoreItem {
	out := map[string][]clusterv1alpha1.AddOnPlacementScoreItem{}
	for _, cluster := range []string{"left", "right"} {
		if s, err := b.hub.ocm.ClusterV1alpha1().AddOnPlacementScores(cluster).Get(ctx, pull, metav1.GetOptions{}); err == nil {
			out[cluster] = s.Status.Scores
		}
	}
	return out
}

func (b beside) decision(ctx context.Context, name string) (*schemas.PlacementDecision, error) {
	m, err := b.bus.Last(ctx, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, pull, name))
	if err != nil {
		return nil, err
	}
	read, err := events.Read(m)
	if err != nil {
		return nil, err
	}
	d, ok := read.Payload.(*schemas.PlacementDecision)
	if !ok {
		return nil, fmt.Errorf("the last event is a %s", read.Event.Type())
	}
	return d, nil
}

// writtenBy fails where anybody but manager has a hand in the decisions or
// the status of a Placement.
func (b beside) writtenBy(t *testing.T, name, manager string) {
	t.Helper()
	pages, err := b.pages(t.Context(), name)
	must(t, err)
	if len(pages) == 0 {
		t.Errorf("Placement %s has no PlacementDecision", name)
	}
	for _, page := range pages {
		if manager != managerOur && len(page.ManagedFields) == 0 { // the bridge keeps none
			t.Errorf("PlacementDecision %s does not say who wrote it", page.Name)
		}
		for _, field := range page.ManagedFields {
			if field.Manager != manager {
				t.Errorf("PlacementDecision %s was written by %s: %s", page.Name, field.Manager, field.FieldsV1)
			}
		}
	}
	p, err := b.hub.ocm.ClusterV1beta1().Placements(pull).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	for _, field := range p.ManagedFields {
		if field.Subresource == "status" && field.Manager != manager {
			t.Errorf("the status of Placement %s was written by %s: %s", name, field.Manager, field.FieldsV1)
		}
	}
}

func (b beside) keptTheirObjects(t *testing.T, name string, before map[string]types.UID) {
	t.Helper()
	if now := b.identities(t, name); !maps.Equal(before, now) {
		t.Errorf("PlacementDecisions of %s were deleted or created: %v became %v", name, before, now)
	}
}

// identities are those of a Placement's PlacementDecisions: one that was
// deleted and created again has another.
func (b beside) identities(t *testing.T, name string) map[string]types.UID {
	t.Helper()
	pages, err := b.pages(t.Context(), name)
	must(t, err)
	if len(pages) == 0 {
		t.Errorf("Placement %s has no PlacementDecision", name)
	}
	uids := map[string]types.UID{}
	for _, page := range pages {
		uids[page.Name] = page.UID
	}
	return uids
}

// onlyEver fails where a decision of another mode was published for a
// Placement.
func (b beside) onlyEver(t *testing.T, name, mode string) {
	t.Helper()
	var modes []string
	done := errors.New("read")
	subject := events.DecisionSubject(events.KindPlacement, pull, name)
	err := b.bus.Watch(t.Context(), events.Watch{Stream: events.StreamDecisions, Subjects: []string{subject}, Since: time.Unix(1, 0)}, func(u events.Update) error {
		if u.Kind == events.Synced {
			return done
		}
		read, err := events.Read(u.Message)
		if err != nil {
			return err
		}
		if d, ok := read.Payload.(*schemas.PlacementDecision); ok {
			modes = append(modes, d.Mode)
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	others := slices.ContainsFunc(modes, func(m string) bool { return m != mode })
	if len(modes) < 3 || others {
		t.Errorf("Placement %s has decisions of modes %v, want several, all %s", name, modes, mode)
	}
}
