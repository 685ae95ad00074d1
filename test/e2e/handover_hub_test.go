package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/difftest/twin"
)

func memberOf(set string, n int) string { return fmt.Sprintf("%s-%03d", set, n) }

func membersOf(set string, from, to int) []string {
	var names []string
	for n := from; n < to; n++ {
		names = append(names, memberOf(set, n))
	}
	return names
}

func (h handover) prepare(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	for set, size := range map[string]int{few: fewSize, many: manySize} {
		must(t, twin.CreateNamespace(ctx, h.hub.twin(), set))
		must(t, created(h.hub.ocm.ClusterV1beta2().ManagedClusterSets().Create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: set}}, metav1.CreateOptions{})))
		binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: set}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set}}
		must(t, created(h.hub.ocm.ClusterV1beta2().ManagedClusterSetBindings(set).Create(ctx, binding, metav1.CreateOptions{})))
		for _, name := range membersOf(set, 0, size) {
			c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: set}}}
			c.Status.Conditions = []metav1.Condition{}
			must(t, twin.CreateCluster(ctx, h.hub.twin(), c))
		}
	}
	apply(t, h.stack, "apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: few}\nspec: {cel: 'linear(metric(\"few\"), 0, 100)', validFor: 30m}")
	for n := range fewSize {
		h.measure(t, n, float64(60-n))
	}
}

// measure publishes the metric of one of the few, which is its score.
func (h handover) measure(t *testing.T, n int, value float64) {
	t.Helper()
	cluster := memberOf(few, n)
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, few), &schemas.Metrics{Samples: []schemas.Sample{{Name: few, Value: value}}})
	must(t, err)
	must(t, created(h.bus.Publish(t.Context(), events.MetricSubject(cluster, few), e)))
}

func (h handover) place(t *testing.T, set, name string, spec clusterv1beta1.PlacementSpec) {
	t.Helper()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: set}, Spec: spec}
	must(t, created(h.hub.ocm.ClusterV1beta1().Placements(set).Create(t.Context(), p, metav1.CreateOptions{})))
}

// best selects n of the few by their score.
func best(n int32) clusterv1beta1.PlacementSpec {
	spec := bestBy(few)
	spec.NumberOfClusters = &n
	return spec
}

func (h handover) respecify(t *testing.T, set, name string, spec clusterv1beta1.PlacementSpec) {
	t.Helper()
	must(t, h.change(t.Context(), set, name, func(p *clusterv1beta1.Placement) { p.Spec = spec }))
}

// annotate replaces a Placement's annotations.
func (h handover) annotate(ctx context.Context, set, name string, annotations map[string]string) error {
	return h.change(ctx, set, name, func(p *clusterv1beta1.Placement) { p.Annotations = annotations })
}

func (h handover) change(ctx context.Context, set, name string, change func(*clusterv1beta1.Placement)) error {
	placements := h.hub.ocm.ClusterV1beta1().Placements(set)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p, err := placements.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(p)
		return created(placements.Update(ctx, p, metav1.UpdateOptions{}))
	})
}

// direct is the annotation by which Spokewire decides, with others.
func direct(others map[string]string) map[string]string {
	out := map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	maps.Copy(out, others)
	return out
}

func (h handover) pages(ctx context.Context, set, name string) ([]clusterv1beta1.PlacementDecision, error) {
	list, err := h.hub.ocm.ClusterV1beta1().PlacementDecisions(set).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// decided waits until the scheduler's decision is on the bus and on the hub,
// and the pages are marked as its own.
func (h handover) decided(t *testing.T, set, name, scheduler string, want []string) *schemas.PlacementDecision {
	t.Helper()
	var last *schemas.PlacementDecision
	testwait.Within(t, handoverWithin, func() string {
		pages, err := h.pages(t.Context(), set, name)
		if err != nil {
			return err.Error()
		}
		p, err := h.hub.ocm.ClusterV1beta1().Placements(set).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if last, err = h.last(t.Context(), set, name); err != nil {
			return err.Error()
		}
		onHub, onBus, unmarked := difftest.Read(p, pages).Clusters, namesOf(last), 0
		for _, page := range pages {
			if bridge.Ours(&page) != (scheduler == bridge.SchedulerSpokewire) {
				unmarked++
			}
		}
		if last.Scheduler != scheduler || unmarked > 0 || !slices.Equal(onBus, want) || !slices.Equal(onHub, want) || int(p.Status.NumberOfSelectedClusters) != len(want) {
			return fmt.Sprintf("Placement %s/%s: the hub has %v (status: %d), the bus %v by %s (%s), %d of %d pages are not marked as %s's; want %v",
				set, name, onHub, p.Status.NumberOfSelectedClusters, onBus, last.Scheduler, last.Message, unmarked, len(pages), scheduler, want)
		}
		return ""
	})
	return last
}

func (h handover) last(ctx context.Context, set, name string) (*schemas.PlacementDecision, error) {
	return h.lastOf(ctx, events.KindPlacement, set, name)
}

func (h handover) lastOf(ctx context.Context, kind, set, name string) (*schemas.PlacementDecision, error) {
	m, err := h.bus.Last(ctx, events.StreamDecisions, events.DecisionSubject(kind, set, name))
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

// held is what an object is and says: another UID is another object.
type held struct {
	uid      types.UID
	clusters string
}

func (h handover) holdings(t *testing.T, set, name string) map[string]held {
	t.Helper()
	pages, err := h.pages(t.Context(), set, name)
	must(t, err)
	out := map[string]held{}
	for i := range pages {
		out[pages[i].Name] = held{pages[i].UID, strings.Join(clustersOn(&pages[i]), " ")}
	}
	return out
}

func clustersOn(page *clusterv1beta1.PlacementDecision) []string {
	var names []string
	for _, d := range page.Status.Decisions {
		names = append(names, d.ClusterName)
	}
	slices.Sort(names)
	return names
}

func same(t *testing.T, when string, before, now map[string]held) {
	t.Helper()
	if !maps.Equal(before, now) {
		t.Errorf("%s, the PlacementDecisions are\n%v\nwant them as they were:\n%v", when, now, before)
	}
}

// shadowed waits until the last shadow decision selects want, or until it is
// at an end.
func (h handover) shadowed(t *testing.T, set, name string, on bool, want []string) {
	t.Helper()
	testwait.Within(t, handoverWithin, func() string {
		d, err := h.lastOf(t.Context(), events.KindShadow, set, name)
		switch {
		case on && err != nil:
			return "no decision in shadow: " + err.Error()
		case on && !slices.Equal(namesOf(d), want):
			return fmt.Sprintf("in shadow %d clusters are selected: %s", len(d.Clusters), d.Message)
		case !on && err == nil:
			return "the shadow has not ended"
		}
		return ""
	})
}
