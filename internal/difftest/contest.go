package difftest

import (
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Contest is a Placement whose answer depends on what it and others selected
// before: by Steady, by Balance, or because Additive has both. So it is given
// to one decider after the other, with all else at rest, first asking for one
// cluster and Then for more.
type Contest struct {
	Placement *clusterv1beta1.Placement
	Then      int32
}

// Contest draws the fleet's contest. Steady has no negative weight: OCM would
// move to and fro for ever.
func (f *Fleet) Contest(seed uint64, index int) Contest {
	d := draw{rand.New(rand.NewPCG(^seed, uint64(index)))} //nolint:gosec // an index is not negative
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "contest", Namespace: f.namespace(d)}}
	p.Annotations = map[string]string{annotationStalePolicy: stalePolicyZero}
	first := int32(1)
	p.Spec.NumberOfClusters = &first
	p.Spec.PrioritizerPolicy.Mode = one(d, clusterv1beta1.PrioritizerPolicyModeExact, clusterv1beta1.PrioritizerPolicyModeAdditive, "")
	for _, name := range some(d, one(d, 0, 1, 2), "Steady", "Balance") {
		weight := d.between(-10, 10)
		if name == "Steady" {
			weight = d.between(0, 10)
		}
		p.Spec.PrioritizerPolicy.Configurations = append(p.Spec.PrioritizerPolicy.Configurations, clusterv1beta1.PrioritizerConfig{
			Weight:          int32(weight), //nolint:gosec // at most 10
			ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name},
		})
	}
	for range one(d, 0, 0, 1, 2) {
		p.Spec.PrioritizerPolicy.Configurations = append(p.Spec.PrioritizerPolicy.Configurations, f.prioritizer(d))
	}
	f.keepToItself(p)
	return Contest{Placement: p, Then: int32(d.between(2, 4))} //nolint:gosec // at most 4
}
