package difftest

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func TestKnownOutcomes(t *testing.T) {
	answer := func(satisfied, misconfigured string, clusters ...string) Answer {
		return Answer{Satisfied: satisfied, Misconfigured: misconfigured, Clusters: clusters}
	}
	const bad, good = misconfigured, configured
	const none, missing, scheduled, nowhere = "False/NoManagedClusterMatched", "False/NotAllDecisionsScheduled", "True/AllDecisionsScheduled", "False/NoIntersection"
	before := answer(scheduled, good, "a", "b")
	plain := func(*clusterv1beta1.Placement) {}
	cel := func(expression string) func(*clusterv1beta1.Placement) {
		return func(p *clusterv1beta1.Placement) {
			var predicate clusterv1beta1.ClusterPredicate
			predicate.RequiredClusterSelector.CelSelector.CelExpressions = []string{expression}
			p.Spec.Predicates = append(p.Spec.Predicates, predicate)
		}
	}
	twice := func(p *clusterv1beta1.Placement) {
		p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{GroupName: "x"}, {GroupName: "x"}}
	}
	late := func(p *clusterv1beta1.Placement) {
		p.Spec.PrioritizerPolicy.Configurations = []clusterv1beta1.PrioritizerConfig{{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
			AddOn: &clusterv1beta1.AddOnScore{ResourceName: "nobody", ScoreName: "gives"},
		}}}
	}
	share := func(p *clusterv1beta1.Placement) {
		p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromString("2")
	}
	faulty := answer(missing, bad, "a")
	faulty.Faults = []string{"page p is not in the status"}
	cases := map[string]struct {
		placement func(*clusterv1beta1.Placement)
		outcome   Outcome
		want      bool
	}{
		"a bad spec keeps":                    {plain, Outcome{answer(none, bad), answer(missing, bad, "a"), before}, true},
		"but not when it is new":              {plain, Outcome{answer(none, bad), answer(missing, bad, "a"), Answer{}}, false},
		"nor a cluster that is no more":       {plain, Outcome{answer(none, bad), answer(missing, bad, "c"), before}, false},
		"nor one that is being deleted":       {plain, Outcome{answer(none, bad), answer(missing, bad, "b"), before}, false},
		"nor with faulty pages":               {plain, Outcome{answer(none, bad), faulty, before}, false},
		"nor where OCM sees nothing bad":      {plain, Outcome{answer(scheduled, good, "a"), answer(missing, bad, "a"), before}, false},
		"nor where we see nothing bad":        {plain, Outcome{answer(none, bad), answer(scheduled, good, "a"), before}, false},
		"no bound set keeps":                  {plain, Outcome{answer(nowhere, good), answer(nowhere, good, "a"), before}, true},
		"but says so":                         {plain, Outcome{answer(nowhere, good), answer(scheduled, good, "a"), before}, false},
		"an expression fails everywhere":      {cel("x"), Outcome{answer(none, good), answer(none, bad), Answer{}}, true},
		"and keeps":                           {cel("x"), Outcome{answer(none, good), answer(missing, bad, "a"), before}, true},
		"but there must be one":               {plain, Outcome{answer(none, good), answer(none, bad), Answer{}}, false},
		"and OCM must select nothing":         {cel("x"), Outcome{answer(scheduled, good, "a"), answer(none, bad), Answer{}}, false},
		"two groups of a name":                {twice, Outcome{answer(scheduled, good, "a"), answer(none, bad), Answer{}}, true},
		"what is not carried":                 {cel(uncarried), Outcome{answer(scheduled, good, "a"), answer(none, bad), Answer{}}, true},
		"a bad share":                         {share, Outcome{answer(scheduled, bad), answer(none, bad), Answer{}}, true},
		"other clusters are never known":      {plain, Outcome{answer(scheduled, good, "a"), answer(scheduled, good, "b"), before}, false},
		"a missing score chooses another":     {late, Outcome{answer(scheduled, good, "a"), answer(none, good), before}, true},
		"but makes no Placement a bad one":    {late, Outcome{answer(scheduled, good, "a"), answer(none, bad), before}, false},
		"nor hides a bad one":                 {late, Outcome{answer(none, bad), answer(scheduled, good, "a"), before}, false},
		"nor takes a set away":                {late, Outcome{answer(scheduled, good, "a"), answer(nowhere, good), before}, false},
		"nor excuses pages":                   {late, Outcome{answer(scheduled, good, "a"), faulty, before}, false},
		"nor another reason":                  {plain, Outcome{answer(none, good), answer(nowhere, good), Answer{}}, false},
		"nor with an expression that is true": {cel("true"), Outcome{answer(scheduled, good, "a"), answer(scheduled, good, "b"), before}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			gone := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "b", DeletionTimestamp: &metav1.Time{Time: now}}}
			f := Fleet{Clusters: []*clusterv1.ManagedCluster{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, gone}}
			p := &clusterv1beta1.Placement{}
			c.placement(p)
			if got := f.Known(p, now, c.outcome); (got != "") != c.want {
				t.Errorf("Known is %q, want one: %v", got, c.want)
			}
		})
	}
}
