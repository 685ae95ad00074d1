package difftest

import (
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// Change returns the fleet after something has happened to every part of it;
// f stays as it is, and no object is new but bindings. Tolerations stay and no
// taint NoSelectIfNew is added, so that the answers still depend on the new
// state alone.
func (f *Fleet) Change(seed uint64, index int, now time.Time) Fleet {
	d := draw{rand.New(rand.NewPCG(seed, ^uint64(index)))} //nolint:gosec // an index is not negative
	after := Fleet{Name: f.Name, Namespaces: f.Namespaces, Large: f.Large, Shared: f.Shared}
	for _, s := range f.Sets {
		after.Sets = append(after.Sets, f.changeSet(d, s.DeepCopy()))
	}
	after.changeBindings(d, f.Bindings)
	for _, c := range f.Clusters {
		if c.DeletionTimestamp != nil || !d.often(8) { // else it is deleted
			after.Clusters = append(after.Clusters, f.changeCluster(d, c.DeepCopy(), now))
		}
	}
	for _, s := range f.Scores {
		after.Scores = append(after.Scores, changeScore(d, s.DeepCopy()))
	}
	for _, p := range f.Placements {
		after.Placements = append(after.Placements, f.changePlacement(d, p.DeepCopy()))
	}
	return after
}

func (f *Fleet) changeSet(d draw, s *clusterv1beta2.ManagedClusterSet) *clusterv1beta2.ManagedClusterSet {
	if s.Spec.ClusterSelector.SelectorType == clusterv1beta2.LabelSelector && d.often(50) {
		s.Spec.ClusterSelector = f.setSelector(d)
	}
	return s
}

// changeBindings drops some bindings and adds some of those that were drawn
// anew.
func (f *Fleet) changeBindings(d draw, before []*clusterv1beta2.ManagedClusterSetBinding) {
	drawn := Fleet{Name: f.Name, Namespaces: f.Namespaces, Sets: f.Sets, Shared: f.Shared}
	drawn.addBindings(d)
	seen := sets.New[string]()
	for _, b := range slices.Concat(before, drawn.Bindings) {
		if key := b.Namespace + "/" + b.Name; !seen.Has(key) && d.often(90) {
			f.Bindings = append(f.Bindings, b.DeepCopy())
			seen.Insert(key)
		}
	}
}

func (f *Fleet) changeCluster(d draw, c *clusterv1.ManagedCluster, now time.Time) *clusterv1.ManagedCluster {
	if d.often(20) {
		c.Labels[clusterv1beta2.ClusterSetLabel] = f.setOf(d)
	}
	if d.often(30) {
		a := one(d, labelled...)
		c.Labels[a.key] = one(d, a.values...)
	}
	for i, claim := range c.Status.ClusterClaims {
		for _, a := range claimed {
			if a.key == claim.Name && d.often(20) {
				c.Status.ClusterClaims[i].Value = one(d, a.values...)
			}
		}
	}
	if d.often(30) {
		addResources(d, &c.Status)
	}
	if len(c.Spec.Taints) > 0 && d.often(50) {
		c.Spec.Taints = c.Spec.Taints[1:]
	} else if t := taint(d, now); d.often(15) && t.Effect != clusterv1.TaintEffectNoSelectIfNew {
		c.Spec.Taints = append(c.Spec.Taints, t)
	}
	return c
}

func changeScore(d draw, s *clusterv1alpha1.AddOnPlacementScore) *clusterv1alpha1.AddOnPlacementScore {
	for i := range s.Status.Scores {
		if d.often(50) {
			s.Status.Scores[i].Value = int32(d.between(-100, 100)) //nolint:gosec // at most 100
		}
	}
	return s
}

func (f *Fleet) changePlacement(d draw, p *clusterv1beta1.Placement) *clusterv1beta1.Placement {
	drawn := f.placement(d, p.Name).Spec
	if d.often(20) {
		p.Spec.NumberOfClusters = drawn.NumberOfClusters
	}
	if d.often(20) {
		p.Spec.Predicates = drawn.Predicates
	}
	if d.often(20) {
		p.Spec.ClusterSets = drawn.ClusterSets
	}
	if d.often(20) {
		p.Spec.PrioritizerPolicy = drawn.PrioritizerPolicy
	}
	if d.often(20) {
		p.Spec.DecisionStrategy = drawn.DecisionStrategy
	}
	return p
}
