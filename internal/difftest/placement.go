package difftest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Direct is a copy of p, with another name, for Spokewire to decide.
func Direct(p *clusterv1beta1.Placement) *clusterv1beta1.Placement {
	twin := p.DeepCopy()
	twin.Name += "-direct"
	if twin.Annotations == nil {
		twin.Annotations = map[string]string{}
	}
	twin.Annotations[clusterv1beta1.PlacementDisableAnnotation] = "true"
	return twin
}

// annotationStalePolicy and stalePolicyZero are from docs/placement.md.
const (
	annotationStalePolicy = "spokewire.dev/stale-policy"
	stalePolicyZero       = "zero"
)

// slips is in how many of a hundred places a Placement is misconfigured.
const slips = 2

func (f *Fleet) placement(d draw, name string) *clusterv1beta1.Placement {
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: f.namespace(d)}}
	if d.often(50) {
		p.Annotations = map[string]string{annotationStalePolicy: stalePolicyZero}
	}
	if d.often(80) {
		n := int32(one(d, 1, 1, 2, 2, 3, d.between(0, len(f.Clusters)+1))) //nolint:gosec // a small number
		if f.Large {
			n = int32(d.between(0, len(f.Clusters))) //nolint:gosec // a small number
		}
		p.Spec.NumberOfClusters = &n
	}
	if d.often(20) {
		p.Spec.ClusterSets = some(d, d.between(1, 2), f.bindable()...)
	}
	for range one(d, 0, 0, 0, 0, 0, 1, 2, 3) {
		p.Spec.Predicates = append(p.Spec.Predicates, predicate(d))
	}
	for range one(d, 0, 1, 2, 2, 3, 4) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, toleration(d))
	}
	addGroups(d, &p.Spec.DecisionStrategy.GroupStrategy)
	p.Spec.PrioritizerPolicy.Mode = clusterv1beta1.PrioritizerPolicyModeExact
	for range one(d, 0, 1, 1, 2, 3, 4) {
		p.Spec.PrioritizerPolicy.Configurations = append(p.Spec.PrioritizerPolicy.Configurations, f.prioritizer(d))
	}
	f.keepToItself(p)
	return p
}

// keepToItself restricts a Placement that may select from all clusters of the
// hub to those of the fleet.
func (f *Fleet) keepToItself(p *clusterv1beta1.Placement) {
	if !f.Shared {
		return
	}
	if len(p.Spec.Predicates) == 0 {
		p.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{}}
	}
	for i := range p.Spec.Predicates {
		s := &p.Spec.Predicates[i].RequiredClusterSelector.LabelSelector
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[LabelFleet] = f.Name
	}
}

func predicate(d draw) clusterv1beta1.ClusterPredicate {
	var p clusterv1beta1.ClusterPredicate
	selector := &p.RequiredClusterSelector
	if d.often(25) {
		a := one(d, labelled...)
		selector.LabelSelector.MatchLabels = map[string]string{a.key: one(d, a.values...)}
	}
	for _, a := range some(d, one(d, 0, 0, 1, 1, 2), labelled...) {
		selector.LabelSelector.MatchExpressions = append(selector.LabelSelector.MatchExpressions, requirement(d, a))
	}
	for _, a := range some(d, one(d, 0, 0, 0, 1, 2), claimed...) {
		selector.ClaimSelector.MatchExpressions = append(selector.ClaimSelector.MatchExpressions, requirement(d, a))
	}
	if d.often(25) {
		addExpressions(d, selector)
	}
	return p
}

// addGroups divides what is selected, by number or share, and by what some of
// the clusters have in common; rarely two groups have one name.
func addGroups(d draw, s *clusterv1beta1.GroupStrategy) {
	switch {
	case d.often(slips / 2):
		s.ClustersPerDecisionGroup = intstr.FromString("2") // a number as text is no share
	case d.often(30):
		s.ClustersPerDecisionGroup = one(d, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(3), intstr.FromInt32(1000), intstr.FromString("1%"), intstr.FromString("25%"), intstr.FromString("50%"), intstr.FromString("100%"))
	}
	for i := range one(d, 0, 0, 0, 0, 1, 1, 2, 3) {
		g := clusterv1beta1.DecisionGroup{GroupName: fmt.Sprintf("group-%d", i+1)}
		if i > 0 && d.often(slips) {
			g.GroupName = "group-1"
		}
		if d.often(70) {
			a := one(d, labelled...)
			g.ClusterSelector.LabelSelector.MatchLabels = map[string]string{a.key: one(d, a.values...)}
		}
		if d.often(40) {
			g.ClusterSelector.ClaimSelector.MatchExpressions = []metav1.LabelSelectorRequirement{requirement(d, one(d, claimed...))}
		}
		s.DecisionGroups = append(s.DecisionGroups, g)
	}
}

// requirement asks for a in one of the ways that there are; rarely in one
// that is none.
func requirement(d draw, a attribute) metav1.LabelSelectorRequirement {
	r := metav1.LabelSelectorRequirement{Key: a.key, Operator: one(d, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
	if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
		r.Values = some(d, d.between(1, 2), a.values...)
	}
	return r
}

// tolerationAges are seconds after which a taint is no longer tolerated: all
// are long past, or far in the future whatever the taint's age. The last ones
// are near and, seldom, beyond what a time.Duration can say.
var tolerationAges = []int64{
	0, 1, 10 * 365 * 86400, 9_000_000_000, 0, 1, 10 * 365 * 86400, 9_000_000_000,
	0, 1, 10 * 365 * 86400, 9_000_000_000, 0, 1, 10 * 365 * 86400, 9_000_000_000, 10_000_000_000,
}

func toleration(d draw) clusterv1beta1.Toleration {
	t := clusterv1beta1.Toleration{Key: one(d, taintKeys...), Operator: one(d, "", clusterv1beta1.TolerationOpEqual, clusterv1beta1.TolerationOpExists)}
	if t.Operator != clusterv1beta1.TolerationOpExists {
		t.Value = one(d, "", "a", "b")
	} else if d.often(30) {
		t.Key = ""
	}
	if d.often(30) {
		t.Effect = one(d, append([]clusterv1.TaintEffect{""}, taintEffects...)...)
	}
	if d.often(30) {
		t.TolerationSeconds = &tolerationAges[d.IntN(len(tolerationAges))]
	}
	switch {
	case d.often(slips):
		t.Key, t.Operator = "", clusterv1beta1.TolerationOpEqual
	case d.often(slips):
		t.Operator, t.Value = clusterv1beta1.TolerationOpExists, "a"
	}
	return t
}

func (f *Fleet) prioritizer(d draw) clusterv1beta1.PrioritizerConfig {
	c := clusterv1beta1.PrioritizerConfig{Weight: one(d, int32(1), -1, 3, -3, 10, -10, int32(d.between(-10, 10)))} //nolint:gosec // at most 10
	c.ScoreCoordinate = &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn}
	switch {
	case d.often(slips):
		c.ScoreCoordinate.BuiltIn = "ResourceAllocatableLuck"
	case f.Large, d.often(40):
		c.ScoreCoordinate.BuiltIn = fmt.Sprintf("ResourceAllocatable%s", one(d, "CPU", "Memory"))
	default:
		c.ScoreCoordinate.Type = clusterv1beta1.ScoreCoordinateTypeAddOn
		c.ScoreCoordinate.AddOn = &clusterv1beta1.AddOnScore{ResourceName: one(d, scoreResources...), ScoreName: one(d, scoreItems...)}
	}
	return c
}
