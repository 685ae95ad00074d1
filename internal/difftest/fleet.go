package difftest

import (
	"fmt"
	"math/rand/v2"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// Fleet is what stands on a hub. Every name begins with Name, and every set
// keeps to the fleet's own clusters, so that many fleets share a hub.
type Fleet struct {
	Name       string
	Namespaces []string
	// Clusters are with their status. One with a deletion timestamp is to be
	// deleted once it is created; its finalizer keeps it.
	Clusters []*clusterv1.ManagedCluster
	Sets     []*clusterv1beta2.ManagedClusterSet
	Bindings []*clusterv1beta2.ManagedClusterSetBinding
	Scores   []*clusterv1alpha1.AddOnPlacementScore
	// Placements are for OCM to decide; see Direct.
	Placements []*clusterv1beta1.Placement
	// Large fleets fill several pages, Shared ones use the hub's own sets.
	Large, Shared bool
}

// SharedSets are sets of the whole hub, as OCM makes them.
func SharedSets() []*clusterv1beta2.ManagedClusterSet {
	global := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "global"}}
	global.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}}
	byLabel := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	byLabel.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
	return []*clusterv1beta2.ManagedClusterSet{byLabel, global}
}

// LabelFleet is on every cluster, with the fleet's name.
const LabelFleet = "difftest.spokewire.dev/fleet"

// Size says how large a fleet is.
type Size struct {
	Clusters   int // at most
	Placements int // exactly
	// Large makes every so manieth fleet one that fills several pages, and
	// Shared one that uses the sets "default" and "global" of the hub; 0 for
	// none.
	Large, Shared int
}

// With is the size with so many Placements.
func (s Size) With(placements int) Size {
	s.Placements = placements
	return s
}

// largeFleet is the least of a large fleet.
const largeFleet = 150

// Generate makes fleet number index of seed, as of now.
func Generate(seed uint64, index int, size Size, now time.Time) Fleet {
	d := draw{rand.New(rand.NewPCG(seed, uint64(index)))} //nolint:gosec // an index is not negative
	f := Fleet{Name: fmt.Sprintf("f%03d", index), Large: every(size.Large, index, 2), Shared: every(size.Shared, index, 3)}
	for i := range d.between(1, 3) {
		f.Namespaces = append(f.Namespaces, fmt.Sprintf("%s-ns%d", f.Name, i+1))
	}
	f.addSets(d)
	f.addBindings(d)
	f.addClusters(d, size, now)
	f.dropScores(d)
	for i := range size.Placements {
		f.Placements = append(f.Placements, f.placement(d, fmt.Sprintf("p%d", i+1)))
	}
	if f.Large && size.Placements > 0 {
		f.fillPages(f.Placements[0])
	}
	return f
}

// fillPages has p select all that there is, so that it has several pages.
func (f *Fleet) fillPages(p *clusterv1beta1.Placement) {
	s := &p.Spec
	s.Predicates, s.ClusterSets, s.NumberOfClusters = nil, nil, nil
	s.Tolerations = []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}}
	f.keepToItself(p)
}

// every is true for one in n, beginning with the first-th.
func every(n, index, first int) bool { return n > 0 && index%n == first%n }

// addClusters gives no scores to those of a large fleet.
func (f *Fleet) addClusters(d draw, size Size, now time.Time) {
	n := d.between(min(4, size.Clusters), size.Clusters)
	if f.Large {
		n = largeFleet + d.IntN(80)
	}
	for _, i := range d.Perm(n) {
		c := f.cluster(d, fmt.Sprintf("%s-c%02d", f.Name, i), now)
		f.Clusters = append(f.Clusters, c)
		if !f.Large {
			f.Scores = append(f.Scores, scoresOf(d, c.Name, now)...)
		}
	}
}

// namespace draws a namespace, mostly one with a binding.
func (f *Fleet) namespace(d draw) string {
	if len(f.Bindings) > 0 && d.often(90) {
		return one(d, f.Bindings...).Namespace
	}
	return one(d, f.Namespaces...)
}

// setNames are those of the fleet's sets; the last never exists.
func (f *Fleet) setNames() []string {
	var names []string
	for _, s := range f.Sets {
		names = append(names, s.Name)
	}
	return append(names, f.Name+"-nowhere")
}

func (f *Fleet) addSets(d draw) {
	for i := range d.between(1, 3) {
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-set%d", f.Name, i+1)}}
		set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
		if d.often(30) {
			set.Spec.ClusterSelector = f.setSelector(d)
		}
		f.Sets = append(f.Sets, set)
	}
}

// bindable are the sets that the fleet may bind and name.
func (f *Fleet) bindable() []string {
	if f.Shared {
		return []string{"default", "global", f.Name + "-nowhere"}
	}
	return f.setNames()
}

// setSelector selects among the fleet's clusters; rarely it has no selector
// at all, which selects none.
func (f *Fleet) setSelector(d draw) clusterv1beta2.ManagedClusterSelector {
	out := clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector}
	if d.often(10) {
		return out
	}
	out.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{LabelFleet: f.Name}}
	if d.often(60) {
		out.LabelSelector.MatchExpressions = append(out.LabelSelector.MatchExpressions, requirement(d, one(d, labelled...)))
	}
	return out
}

// addBindings binds most sets in most namespaces, and sometimes one that does
// not exist.
func (f *Fleet) addBindings(d draw) {
	for _, namespace := range f.Namespaces {
		rate := one(d, 0, 60, 90, 100, 100, 100, 100, 100)
		if f.Large {
			rate = 100
		}
		for _, set := range f.bindable() {
			if !d.often(rate) {
				continue
			}
			f.Bindings = append(f.Bindings, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{Name: set, Namespace: namespace},
				Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
			})
		}
	}
}
