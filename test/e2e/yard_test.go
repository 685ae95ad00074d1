package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/difftest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/difftest/twin"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// yard is a hub with the clusters a to d, in the zones 1 and 2 by turns, all
// bound in namespace yard and scored by what the test says of them.
type yard struct {
	t     *testing.T
	stack *stack.Stack
	hub   hubClients
	bus   *jetstream.Bus
}

const yardName = "yard"

func startYard(t *testing.T, change func(*stack.Options)) yard {
	t.Helper()
	s := startStack(t, func(o *stack.Options) {
		o.Spokes = 0
		change(o)
	})
	y := yard{t: t, stack: s, hub: hubOf(t, s), bus: operator(t, s)}
	ctx, sets := t.Context(), y.hub.ocm.ClusterV1beta2()
	must(t, twin.CreateNamespace(ctx, y.hub.twin(), yardName))
	for _, name := range []string{yardName, "loose"} {
		must(t, created(sets.ManagedClusterSets().Create(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})))
	}
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: yardName}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: yardName}}
	must(t, created(sets.ManagedClusterSetBindings(yardName).Create(ctx, binding, metav1.CreateOptions{})))
	for name, zone := range map[string]string{"a": "1", "b": "1", "c": "2", "d": "2"} {
		c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: yardName, "zone": zone}}}
		c.Status.Conditions = []metav1.Condition{}
		must(t, twin.CreateCluster(ctx, y.hub.twin(), c))
	}
	apply(t, s, "apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: pull}\nspec: {cel: 'linear(metric(\"pull\"), 0, 100)', validFor: 30m}")
	return y
}

// pulls gives clusters their scores, 0 to 100, and waits for these.
func (y yard) pulls(values map[string]float64) {
	y.t.Helper()
	for cluster, value := range values {
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, pull), &schemas.Metrics{Samples: []schemas.Sample{{Name: pull, Value: value}}})
		must(y.t, err)
		_, err = y.bus.Publish(y.t.Context(), events.MetricSubject(cluster, pull), e)
		must(y.t, err)
	}
	for cluster, value := range values {
		testwait.Within(y.t, time.Minute, func() string {
			m, err := y.bus.Last(y.t.Context(), events.StreamScores, events.ScoreSubject(cluster, pull))
			if err != nil {
				return err.Error()
			}
			read, err := events.Read(m)
			if err != nil {
				return err.Error()
			}
			if s, ok := read.Payload.(*schemas.Score); !ok || len(s.Items) != 1 || s.Items[0].Value == nil || *s.Items[0].Value != int32(value) {
				return fmt.Sprintf("the score of %s is not %v: %s", cluster, value, m.Data)
			}
			return ""
		})
	}
}

// place creates a direct Placement of the n clusters with the strongest pull.
func (y yard) place(name string, n int32, changes ...func(*clusterv1beta1.Placement)) {
	y.t.Helper()
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: yardName}, Spec: bestBy(pull)}
	p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	p.Spec.NumberOfClusters = &n
	for _, change := range changes {
		change(p)
	}
	must(y.t, created(y.hub.ocm.ClusterV1beta1().Placements(yardName).Create(y.t.Context(), p, metav1.CreateOptions{})))
}

// edit changes a Placement on the hub, and returns what the hub says to that.
func (y yard) edit(name string, change func(*clusterv1beta1.Placement)) error {
	y.t.Helper()
	placements := y.hub.ocm.ClusterV1beta1().Placements(yardName)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p, err := placements.Get(y.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(p)
		return created(placements.Update(y.t.Context(), p, metav1.UpdateOptions{}))
	})
}

func annotate(key, value string) func(*clusterv1beta1.Placement) {
	return func(p *clusterv1beta1.Placement) { p.Annotations["spokewire.dev/"+key] = value }
}

// at reads a Placement, its pages and its last decision.
func (y yard) at(ctx context.Context, name string) (*clusterv1beta1.Placement, []clusterv1beta1.PlacementDecision, *schemas.PlacementDecision, uint64, error) {
	p, err := y.hub.ocm.ClusterV1beta1().Placements(yardName).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, nil, 0, err
	}
	list, err := y.hub.ocm.ClusterV1beta1().PlacementDecisions(yardName).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return nil, nil, nil, 0, err
	}
	m, err := y.bus.Last(ctx, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, yardName, name))
	if err != nil {
		return nil, nil, nil, 0, fmt.Errorf("Placement %s: the bus: %w", name, err)
	}
	read, err := events.Read(m)
	if err != nil {
		return nil, nil, nil, 0, err
	}
	d, ok := read.Payload.(*schemas.PlacementDecision)
	if !ok {
		return nil, nil, nil, 0, fmt.Errorf("the last event of %s is a %s", name, read.Event.Type())
	}
	return p, list.Items, d, m.Sequence, nil
}

// selects waits until hub, bus and receipt agree on these clusters and the
// decision is as wanted, and returns the decision.
func (y yard) selects(name string, want []string, wanted func(*schemas.PlacementDecision) string) *schemas.PlacementDecision {
	y.t.Helper()
	var d *schemas.PlacementDecision
	testwait.Within(y.t, time.Minute, func() string {
		p, pages, last, sequence, err := y.at(y.t.Context(), name)
		if err != nil {
			return err.Error()
		}
		d = last
		onHub, onBus := difftest.Read(p, pages).Clusters, namesOf(d)
		if !slices.Equal(onHub, want) || !slices.Equal(onBus, want) || int(p.Status.NumberOfSelectedClusters) != len(want) {
			return fmt.Sprintf("%s: the hub has %v, the bus %v (%s: %s), want %v", name, onHub, onBus, d.Cause, d.Message, want)
		}
		if r, err := y.receipt(name); err != nil || r.Sequence != sequence || r.Outcome == schemas.OutcomeRefused {
			return fmt.Sprintf("%s: the receipt of decision %d is %+v (%v)", name, sequence, r, err)
		}
		return wanted(d)
	})
	return d
}

func (y yard) receipt(name string) (*schemas.Receipt, error) {
	m, err := y.bus.Last(y.t.Context(), events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, yardName, name))
	if err != nil {
		return nil, err
	}
	read, err := events.Read(m)
	if err != nil {
		return nil, err
	}
	r, _ := read.Payload.(*schemas.Receipt)
	return r, nil
}

func anyDecision(*schemas.PlacementDecision) string { return "" }

// because wants a cause, and parts of the message.
func because(cause string, parts ...string) func(*schemas.PlacementDecision) string {
	return func(d *schemas.PlacementDecision) string {
		for _, part := range parts {
			if !strings.Contains(d.Message, part) {
				return fmt.Sprintf("the message is %q, want %q in it", d.Message, part)
			}
		}
		if d.Cause != cause {
			return fmt.Sprintf("the cause is %s (%s), want %s", d.Cause, d.Message, cause)
		}
		return ""
	}
}

// explains wants a cluster to be explained by a reason, and a part of the
// message.
func explains(cluster, reason, part string) func(*schemas.PlacementDecision) string {
	return func(d *schemas.PlacementDecision) string {
		for _, e := range d.Explanations {
			if e.Cluster == cluster && e.Reason == reason && strings.Contains(e.Message, part) {
				return ""
			}
		}
		return fmt.Sprintf("%s is not explained as %s with %q: %+v", cluster, reason, part, d.Explanations)
	}
}

// says wants a condition of a Placement on the hub to have a status, and
// parts of its message.
func (y yard) says(name, condition string, status metav1.ConditionStatus, parts ...string) {
	y.t.Helper()
	testwait.Within(y.t, time.Minute, func() string {
		p, err := y.hub.ocm.ClusterV1beta1().Placements(yardName).Get(y.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		c := meta.FindStatusCondition(p.Status.Conditions, condition)
		if c == nil || c.Status != status {
			return fmt.Sprintf("%s has conditions %+v, want %s %s", name, p.Status.Conditions, condition, status)
		}
		for _, part := range parts {
			if !strings.Contains(c.Message, part) {
				return fmt.Sprintf("%s says %q, want %q in it", name, c.Message, part)
			}
		}
		return ""
	})
}

// told runs the command line, and wants parts in what it prints.
func (y yard) told(args []string, parts ...string) {
	y.t.Helper()
	out, err := spokewire(y.t, y.stack, args...)
	if err != nil {
		y.t.Fatalf("spokewire %v: %v\n%s", args, err, out)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			y.t.Errorf("spokewire %v prints %q, want %q in it", args, out, part)
		}
	}
}

// restart ends the processes in good order, all at once, and starts them
// again.
func (y yard) restart(names ...string) {
	y.t.Helper()
	for _, name := range names {
		must(y.t, y.stack.Halt(name))
	}
	for _, name := range names {
		must(y.t, y.stack.Continue(y.t.Context(), name))
	}
}

// history is every decision of a Placement, oldest first. It fails where one
// was lost or made twice.
func (y yard) history(name string) []*schemas.PlacementDecision {
	y.t.Helper()
	e, err := fold.Gather(y.t.Context(), y.bus, time.Time{}, events.StreamDecisions)
	must(y.t, err)
	for _, v := range (fold.Rule{Placement: yardName + "/" + name}).Linear(e, time.Time{}) {
		y.t.Error(v)
	}
	var out []*schemas.PlacementDecision
	for _, m := range e[events.StreamDecisions] {
		if m.Subject != events.DecisionSubject(events.KindPlacement, yardName, name) {
			continue
		}
		read, err := events.Read(m)
		must(y.t, err)
		out = append(out, read.Payload.(*schemas.PlacementDecision))
	}
	return out
}

// movesOf counts how often each cluster went.
func movesOf(history []*schemas.PlacementDecision) map[string]int {
	out := map[string]int{}
	for _, d := range history {
		for _, name := range d.Removed {
			out[name]++
		}
	}
	return out
}
