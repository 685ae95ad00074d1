package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/test/difftest/twin"
)

const (
	shards        = 10
	shardClusters = 25
	readers       = 3
	// calmReads is how often each reader looks after it has seen the new set.
	calmReads = 5
)

// plainReader reads as Argo CD's cluster decision generator does, with what
// the documentation has Argo CD read, while decisions on several pages change.
func (o *orchestra) plainReader(t *testing.T) {
	t.Parallel()
	g := o.generator(t)
	o.shards(t, g.namespace)
	turns := [][]int{
		{0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 2, 4, 6, 8, 9}, {1, 3, 5, 7, 9},
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {9}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 2, 3, 4, 5, 6, 7, 8, 9},
	}
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: g.placement, Namespace: g.namespace}, Spec: ofShards(turns[0])}
	p.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	must(t, created(o.hub.ocm.ClusterV1beta1().Placements(g.namespace).Create(t.Context(), p, metav1.CreateOptions{})))
	old := []string{}
	var reads, between atomic.Int64
	for turn, shards := range turns {
		want := clustersOf(shards)
		if turn > 0 {
			o.turnTo(t, g, shards)
		}
		var group errgroup.Group
		for range readers {
			group.Go(func() error { return g.watch(t.Context(), old, want, &reads, &between) })
		}
		if err := group.Wait(); err != nil {
			t.Fatalf("turn %d, from %d clusters to %d: %v", turn, len(old), len(want), err)
		}
		old = want
	}
	t.Logf("%d reads, %d of them between two writes of one decision", reads.Load(), between.Load())
	if between.Load() == 0 {
		t.Error("nobody has read between two writes, so this says little")
	}
}

func (o *orchestra) turnTo(t *testing.T, g *generator, shards []int) {
	t.Helper()
	placements := o.hub.ocm.ClusterV1beta1().Placements(g.namespace)
	must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p, err := placements.Get(t.Context(), g.placement, metav1.GetOptions{})
		if err != nil {
			return err
		}
		p.Spec = ofShards(shards)
		return created(placements.Update(t.Context(), p, metav1.UpdateOptions{}))
	}))
}

// ofShards selects the clusters of these shards.
func ofShards(shards []int) clusterv1beta1.PlacementSpec {
	in := metav1.LabelSelectorRequirement{Key: "shard", Operator: metav1.LabelSelectorOpIn}
	for _, shard := range shards {
		in.Values = append(in.Values, fmt.Sprint(shard))
	}
	return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{
		RequiredClusterSelector: clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in}}},
	}}}
}

func clustersOf(shards []int) []string {
	var names []string
	for _, shard := range shards {
		for i := range shardClusters {
			names = append(names, clusterOf(shard, i))
		}
	}
	slices.Sort(names)
	return names
}

// clusterOf spreads a shard over the alphabet, so that its clusters are on
// all pages.
func clusterOf(shard, i int) string { return fmt.Sprintf("many-%02d-%d", i, shard) }

// shards creates the clusters, in a set that is bound in namespace.
func (o *orchestra) shards(t *testing.T, namespace string) {
	t.Helper()
	ctx, hub := t.Context(), o.hub.ocm
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	must(t, created(hub.ClusterV1beta2().ManagedClusterSets().Create(ctx, set, metav1.CreateOptions{})))
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: namespace}}
	must(t, created(hub.ClusterV1beta2().ManagedClusterSetBindings(namespace).Create(ctx, binding, metav1.CreateOptions{})))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for shard := range shards {
		for i := range shardClusters {
			c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: clusterOf(shard, i), Labels: map[string]string{"shard": fmt.Sprint(shard), clusterv1beta2.ClusterSetLabel: namespace}}}
			group.Go(func() error {
				return created(hub.ClusterV1().ManagedClusters().Create(ctx, c, metav1.CreateOptions{}))
			})
		}
	}
	must(t, group.Wait())
}

// generator is what Argo CD's generator takes out of its two objects.
type generator struct {
	namespace, placement    string
	resource                dynamic.ResourceInterface
	selector                string
	statusListKey, matchKey string
}

// generator reads the documented objects, as a user who may do nothing but
// list what they name.
func (o *orchestra) generator(t *testing.T) *generator {
	t.Helper()
	objects := documented(t, "orchestrators.md")
	config, set := new(corev1.ConfigMap), new(unstructured.Unstructured)
	must(t, yaml.Unmarshal(objects["ConfigMap"], config))
	must(t, yaml.Unmarshal(objects["ApplicationSet"], &set.Object))
	generators, _, err := unstructured.NestedSlice(set.Object, "spec", "generators")
	must(t, err)
	first, ok := generators[0].(map[string]any)
	if !ok || len(generators) != 1 {
		t.Fatalf("generators %v", generators)
	}
	match, _, err := unstructured.NestedStringMap(first, "clusterDecisionResource", "labelSelector", "matchLabels")
	must(t, err)
	gv, err := schema.ParseGroupVersion(config.Data["apiVersion"])
	must(t, err)
	resource := gv.WithResource(config.Data["kind"])
	namespace := set.GetNamespace()
	must(t, twin.CreateNamespace(t.Context(), o.hub.twin(), namespace))
	kubeconfig := o.reader(t, namespace, resource)
	as, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	as.QPS, as.Burst = 1000, 2000
	return &generator{
		namespace: namespace, placement: match[clusterv1beta1.PlacementLabel],
		resource: dynamic.NewForConfigOrDie(as).Resource(resource).Namespace(namespace),
		selector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: match}), statusListKey: config.Data["statusListKey"], matchKey: config.Data["matchKey"],
	}
}

// reader is a user who may list resource in namespace.
func (o *orchestra) reader(t *testing.T, namespace string, resource schema.GroupVersionResource) string {
	t.Helper()
	const name = "argocd"
	at := metav1.ObjectMeta{Name: name, Namespace: namespace}
	rules := []rbacv1.PolicyRule{{APIGroups: []string{resource.Group}, Resources: []string{resource.Resource}, Verbs: []string{"list"}}}
	roles := o.hub.core.RbacV1()
	must(t, created(roles.Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: at, Rules: rules}, metav1.CreateOptions{})))
	must(t, created(roles.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}, metav1.CreateOptions{})))
	kubeconfig, err := o.fleet.Hub.User(name)
	must(t, err)
	return kubeconfig
}

// read is one look, in any order.
func (g *generator) read(ctx context.Context) ([]string, error) {
	list, err := g.resource.List(ctx, metav1.ListOptions{LabelSelector: g.selector})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, item := range list.Items {
		decisions, _, err := unstructured.NestedSlice(item.Object, "status", g.statusListKey)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
			fields, _ := d.(map[string]any)
			name, ok := fields[g.matchKey].(string)
			if !ok {
				return nil, fmt.Errorf("%s has a decision without %s: %v", item.GetName(), g.matchKey, d)
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// watch reads all the time while the selection turns from old to want, and
// some more. It returns what should not have been seen.
func (g *generator) watch(ctx context.Context, old, want []string, reads, between *atomic.Int64) error {
	deadline := time.Now().Add(30 * time.Second)
	for calm := 0; calm < calmReads; {
		got, err := g.read(ctx)
		if err != nil {
			return err
		}
		reads.Add(1)
		slices.Sort(got)
		if wrong := outside(got, old, want); wrong != "" {
			return fmt.Errorf("a reader saw %s", wrong)
		}
		switch {
		case slices.Equal(got, want):
			calm++
		case calm > 0:
			return fmt.Errorf("a reader saw the new set and then another one, of %d clusters", len(got))
		case !slices.Equal(got, old):
			between.Add(1)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the new set does not come: %d clusters are there", len(got))
		}
	}
	return nil
}

// outside says what of got, which is sorted, is doubled, in neither of old and
// want, or missing though in both.
func outside(got, old, want []string) string {
	in := func(all []string) map[string]bool {
		out := map[string]bool{}
		for _, name := range all {
			out[name] = true
		}
		return out
	}
	there, before, after := in(got), in(old), in(want)
	var wrong []string
	for i, name := range got {
		if i > 0 && got[i-1] == name {
			wrong = append(wrong, name+" twice")
		}
		if !before[name] && !after[name] {
			wrong = append(wrong, name+", which never was selected")
		}
	}
	for _, name := range want {
		if before[name] && !there[name] {
			wrong = append(wrong, "not "+name+", which stays selected")
		}
	}
	return strings.Join(wrong, "; ")
}
