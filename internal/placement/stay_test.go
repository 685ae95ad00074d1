package placement

import (
	"slices"
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func generation(n int64) func(*schemas.Placement) {
	return func(p *schemas.Placement) { p.Generation = n }
}

// TestBadSpecKeepsTheDecision edits a Placement that selected a and c.
func TestBadSpecKeepsTheDecision(t *testing.T) {
	t.Parallel()
	group := func(name string) clusterv1beta1.DecisionGroup { return clusterv1beta1.DecisionGroup{GroupName: name} }
	tests := map[string]struct {
		spec      func(*clusterv1beta1.PlacementSpec)
		wantField string
	}{
		"unknown prioritizer": {func(s *clusterv1beta1.PlacementSpec) { s.PrioritizerPolicy = exact(builtIn("Luck", 1)) }, `spec.prioritizerPolicy.configurations[0].scoreCoordinate.builtIn is "Luck"`},
		"weight": {func(s *clusterv1beta1.PlacementSpec) {
			s.PrioritizerPolicy = exact(addOnOf("gpu", 1), builtIn("Steady", 11))
		}, "spec.prioritizerPolicy.configurations[1].weight is 11: write -10 to 10"},
		"no coordinate": {func(s *clusterv1beta1.PlacementSpec) {
			s.PrioritizerPolicy = exact(clusterv1beta1.PrioritizerConfig{Weight: 1})
		}, "spec.prioritizerPolicy.configurations[0].scoreCoordinate is missing"},
		"mode": {func(s *clusterv1beta1.PlacementSpec) { s.PrioritizerPolicy.Mode = "Odd" }, "spec.prioritizerPolicy.mode"},
		"group names": {func(s *clusterv1beta1.PlacementSpec) {
			s.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{group("x"), group("y"), group("x")}
		}, `spec.decisionStrategy.groupStrategy.decisionGroups[2].groupName is "x", as that of decisionGroups[0]`},
		"group length": {func(s *clusterv1beta1.PlacementSpec) {
			s.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.Type = 1
			s.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.StrVal = "many"
		}, "spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup"},
		"number": {func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = number(-1) }, "spec.numberOfClusters is -1"},
		"toleration": {func(s *clusterv1beta1.PlacementSpec) {
			s.Tolerations = []clusterv1beta1.Toleration{{Operator: "Equal"}}
		}, "spec.tolerations[0]"},
		"expression": {func(s *clusterv1beta1.PlacementSpec) {
			s.Predicates = []clusterv1beta1.ClusterPredicate{celPredicate("1 +")}
		}, "celExpressions[0]: does not compile"},
		"expression that fails": {func(s *clusterv1beta1.PlacementSpec) {
			s.Predicates = []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.labels.nowhere == "x"`)}
		}, "celExpressions[0]: no such key: nowhere"},
		"expression for ever": {func(s *clusterv1beta1.PlacementSpec) {
			list := "[" + strings.Repeat("1,", 99) + "1]"
			s.Predicates = []clusterv1beta1.ClusterPredicate{celPredicate(list + ".all(a, " + list + ".all(b, " + list + ".all(c, true)))")}
		}, "celExpressions[0]: the CEL expressions cost too much"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, name := range []string{"a", "b", "c"} {
				w.cluster(name)
			}
			prior := selecting("c", "a")
			prior.Decision.Clusters[0].Score, prior.Decision.Clusters[1].Score, prior.Decision.Clusters[1].Group = 70, 20, 1
			prior.Decision.Groups = []schemas.DecisionGroup{{Name: "canary", Count: 1}, {Count: 1}}
			var spec clusterv1beta1.PlacementSpec
			tt.spec(&spec)
			d := w.decide(place(t, spec, generation(2)), prior)
			if !slices.Equal(d.Clusters, prior.Decision.Clusters) || !slices.Equal(d.Groups, prior.Decision.Groups) {
				t.Errorf("selected %v in %v, want %v in %v", d.Clusters, d.Groups, prior.Decision.Clusters, prior.Decision.Groups)
			}
			if c := d.Conditions[1]; c.Status != "True" || c.Reason != ReasonMisconfigured || !strings.Contains(c.Message, tt.wantField) {
				t.Errorf("it says %+v, want %q", c, tt.wantField)
			}
			if c := d.Conditions[0]; c.Status != "False" || c.Reason != ReasonUnsatisfied || !strings.Contains(c.Message, "the last one stays, with 2 clusters") {
				t.Errorf("it says %+v", c)
			}
			if !strings.Contains(Misconfiguration(&d), tt.wantField) || !strings.Contains(Sentence(&d), "Misconfigured: ") {
				t.Errorf("it is told as %s", Sentence(&d))
			}
			if d.Cause != CauseSpecChanged || d.Message != "generation 2 cannot be decided, so the last decision stays" {
				t.Errorf("the cause is %s: %s", d.Cause, d.Message)
			}
			if e := explanation(d, "c"); e.Reason != ExplainedHeld || *e.Score != 70 {
				t.Errorf("c is explained by %+v", e)
			}
			again := w.decide(place(t, spec, generation(2)), after(d))
			if !slices.Equal(again.Clusters, d.Clusters) || Changed(&d, &again) != Same {
				t.Errorf("then it is %v, %d", again.Clusters, Changed(&d, &again))
			}
		})
	}
}

func TestFactsCountForABadSpecToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("other")
	w.cluster("kept")
	w.cluster("on-its-way-out", deleting)
	w.cluster("unbound", inSet("other"))
	d := w.decide(place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(builtIn("Luck", 1))}, generation(2)), selecting("kept", "on-its-way-out", "unbound", "gone"))
	if got := SelectedNames(&d); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("selected %v, want kept alone", got)
	}
	w.fleet.DeleteBinding("default", "default")
	d = w.decide(place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(builtIn("Luck", 1))}, generation(2)), after(d))
	if len(d.Clusters) != 0 || d.Conditions[0].Reason != ReasonNoBindings {
		t.Errorf("without a binding it is %v, %+v", d.Clusters, d.Conditions[0])
	}
}

// TestExpressionThatCeasesToMatch: the label of the last cluster goes, and
// the expression, which is as it was, fails for all.
func TestExpressionThatCeasesToMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := place(t, clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.labels.gpu == "yes"`)}})
	w.cluster("a", labelled("gpu", "yes"))
	w.cluster("b")
	first := w.decide(p, nil)
	if got := SelectedNames(&first); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("selected %v", got)
	}
	w.cluster("a")
	second := w.decide(p, after(first))
	if len(second.Clusters) != 0 || second.Conditions[1].Status != "True" {
		t.Errorf("selected %v, %+v", second.Clusters, second.Conditions[1])
	}
	if second.Cause != CauseLabelChanged || !strings.Contains(second.Message, "no such key: gpu") {
		t.Errorf("cause %s: %s", second.Cause, second.Message)
	}
}

func TestUnboundSetOfANewSpec(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	spec := clusterv1beta1.PlacementSpec{ClusterSets: []string{"nowhere"}}
	d := w.decide(place(t, spec, generation(2)), selecting("a"))
	if got := SelectedNames(&d); !slices.Equal(got, []string{"a"}) {
		t.Errorf("selected %v: a slip in the spec moves a workload", got)
	}
	if c := d.Conditions[0]; c.Reason != ReasonNoIntersect || !strings.Contains(c.Message, "spec.clusterSets the ManagedClusterSets [nowhere] do not exist") || !strings.Contains(c.Message, "stays, with 1 clusters") {
		t.Errorf("it says %+v", c)
	}
	if again := w.decide(place(t, spec, generation(2)), after(d)); len(again.Clusters) != 1 {
		t.Errorf("then it is %v", again.Clusters)
	}
	w.fleet.DeleteBinding("default", "default")
	w.set("red")
	w.bind("red")
	if d = w.decide(place(t, clusterv1beta1.PlacementSpec{ClusterSets: []string{"default"}}), selecting("a")); len(d.Clusters) != 0 {
		t.Errorf("%v stays though its set is not bound any more", d.Clusters)
	}
}
