package placement

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestEligible(t *testing.T) {
	t.Parallel()
	selectorSet := func(name, selector string) *schemas.ClusterSet {
		return &schemas.ClusterSet{Name: name, SelectorType: "LabelSelector", LabelSelector: json.RawMessage(selector)}
	}
	tests := map[string]struct {
		arrange    func(w *world)
		spec       clusterv1beta1.PlacementSpec
		want       []string
		wantReason string
	}{
		"the exclusive label says the set": {
			arrange:    func(w *world) { w.cluster("a"); w.cluster("b", inSet("other")) },
			want:       []string{"a"},
			wantReason: ReasonSatisfied,
		},
		"a set with an empty selector holds all": {
			arrange: func(w *world) {
				w.setFrom(selectorSet("global", `{}`))
				w.bind("global")
				w.cluster("a")
				w.cluster("b", inSet("other"))
			},
			want:       []string{"a", "b"},
			wantReason: ReasonSatisfied,
		},
		"a set without its selector holds none": {
			arrange: func(w *world) {
				w.setFrom(selectorSet("default", ``))
				w.cluster("a")
			},
			wantReason: ReasonSetsEmpty,
		},
		"a set by selector": {
			arrange: func(w *world) {
				w.setFrom(selectorSet("eu", `{"matchExpressions":[{"key":"region","operator":"In","values":["eu"]}]}`))
				w.bind("eu")
				w.cluster("a", inSet("x"), labelled("region", "eu"))
				w.cluster("b", inSet("x"), labelled("region", "us"))
			},
			want:       []string{"a"},
			wantReason: ReasonSatisfied,
		},
		"in two sets, counted once": {
			arrange: func(w *world) {
				w.setFrom(selectorSet("global", `{}`))
				w.bind("global")
				w.cluster("a")
			},
			want:       []string{"a"},
			wantReason: ReasonSatisfied,
		},
		"a binding that is not named like its set": {
			arrange: func(w *world) {
				w.fleet.DeleteBinding("default", "default")
				w.fleet.SetBinding(&schemas.Binding{Name: "other", Namespace: "default", ClusterSet: "default"})
				w.cluster("a")
			},
			wantReason: ReasonNoBindings,
		},
		"a binding in another namespace": {
			arrange: func(w *world) {
				w.fleet.DeleteBinding("default", "default")
				w.fleet.SetBinding(&schemas.Binding{Name: "default", Namespace: "other", ClusterSet: "default"})
				w.cluster("a")
			},
			wantReason: ReasonNoBindings,
		},
		"a binding of a set that does not exist": {
			arrange: func(w *world) {
				w.fleet.DeleteClusterSet("default")
				w.cluster("a")
			},
			wantReason: ReasonNoBindings,
		},
		"the spec names a bound set": {
			arrange: func(w *world) {
				w.set("eu")
				w.bind("eu")
				w.cluster("a")
				w.cluster("b", inSet("eu"))
			},
			spec:       clusterv1beta1.PlacementSpec{ClusterSets: []string{"eu", "nowhere"}},
			want:       []string{"b"},
			wantReason: ReasonSatisfied,
		},
		"the spec names an unknown set": {
			arrange:    func(w *world) { w.cluster("a") },
			spec:       clusterv1beta1.PlacementSpec{ClusterSets: []string{"nowhere"}},
			wantReason: ReasonNoIntersect,
		},
		"a set without clusters": {
			arrange:    func(w *world) { w.cluster("a", inSet("other")) },
			wantReason: ReasonSetsEmpty,
		},
		"only terminating clusters": {
			arrange:    func(w *world) { w.cluster("a", deleting) },
			wantReason: ReasonSetsEmpty,
		},
		"a terminating cluster beside another": {
			arrange:    func(w *world) { w.cluster("a", deleting); w.cluster("b") },
			want:       []string{"b"},
			wantReason: ReasonSatisfied,
		},
		"numberOfClusters 0": {
			arrange:    func(w *world) { w.cluster("a") },
			spec:       clusterv1beta1.PlacementSpec{NumberOfClusters: number(0)},
			wantReason: ReasonNoneMatched,
		},
		"fewer clusters than wanted": {
			arrange:    func(w *world) { w.cluster("a") },
			spec:       clusterv1beta1.PlacementSpec{NumberOfClusters: number(3)},
			want:       []string{"a"},
			wantReason: ReasonUnsatisfied,
		},
		"more clusters than wanted, ties by name": {
			arrange:    func(w *world) { w.cluster("c"); w.cluster("b"); w.cluster("a") },
			spec:       clusterv1beta1.PlacementSpec{NumberOfClusters: number(2)},
			want:       []string{"a", "b"},
			wantReason: ReasonSatisfied,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.arrange(w)
			d := w.decide(place(t, tt.spec), nil)
			if got := SelectedNames(&d); !slices.Equal(got, tt.want) {
				t.Errorf("selected %v, want %v", got, tt.want)
			}
			if got := d.Conditions[0].Reason; got != tt.wantReason {
				t.Errorf("condition reason %s, want %s (%s)", got, tt.wantReason, d.Conditions[0].Message)
			}
		})
	}
}

func TestUnknownSetIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set("unbound")
	d := w.decide(place(t, clusterv1beta1.PlacementSpec{ClusterSets: []string{"nowhere", "unbound"}}), nil)
	for _, want := range []string{"[nowhere] do not exist", "[unbound] are not bound in namespace default"} {
		if !strings.Contains(d.Conditions[0].Message, want) {
			t.Errorf("message %q lacks %q", d.Conditions[0].Message, want)
		}
	}
}

func TestPredicates(t *testing.T) {
	t.Parallel()
	label := func(key, value string) clusterv1beta1.ClusterPredicate {
		return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
		}}
	}
	claim := func(key string, op metav1.LabelSelectorOperator, values ...string) clusterv1beta1.ClusterPredicate {
		return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}},
		}}
	}
	both := label("gpu", "yes")
	both.RequiredClusterSelector.ClaimSelector = claim("cloud", "In", "aws").RequiredClusterSelector.ClaimSelector
	tests := map[string]struct {
		predicates        []clusterv1beta1.ClusterPredicate
		want              []string
		wantMisconfigured string
	}{
		"none":                   {want: []string{"aws-gpu", "aws-plain", "gcp-gpu"}},
		"an empty one":           {predicates: []clusterv1beta1.ClusterPredicate{{}}, want: []string{"aws-gpu", "aws-plain", "gcp-gpu"}},
		"by label":               {predicates: []clusterv1beta1.ClusterPredicate{label("gpu", "yes")}, want: []string{"aws-gpu", "gcp-gpu"}},
		"by claim":               {predicates: []clusterv1beta1.ClusterPredicate{claim("cloud", "In", "aws")}, want: []string{"aws-gpu", "aws-plain"}},
		"label and claim in one": {predicates: []clusterv1beta1.ClusterPredicate{both}, want: []string{"aws-gpu"}},
		"two are ORed":           {predicates: []clusterv1beta1.ClusterPredicate{both, claim("cloud", "NotIn", "aws")}, want: []string{"aws-gpu", "gcp-gpu"}},
		"none matches":           {predicates: []clusterv1beta1.ClusterPredicate{label("gpu", "no")}},
		"a bad operator":         {predicates: []clusterv1beta1.ClusterPredicate{claim("cloud", "Like", "a")}, wantMisconfigured: "predicates[0].requiredClusterSelector.claimSelector"},
		"by expression":          {predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.name.endsWith("gpu")`)}, want: []string{"aws-gpu", "gcp-gpu"}},
		"all expressions":        {predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.name.endsWith("gpu")`, `managedCluster.status.clusterClaims.exists(c, c.value == "aws")`)}, want: []string{"aws-gpu"}},
		"label or expression":    {predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.name == "aws-plain"`), label("gpu", "yes")}, want: []string{"aws-gpu", "aws-plain", "gcp-gpu"}},
		"fails for some":         {predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.labels.gpu == "yes"`)}, want: []string{"aws-gpu", "gcp-gpu"}},
		"fails for all":          {predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`true`, `managedCluster.metadata.labels.cpu == "yes"`)}, wantMisconfigured: "spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[1]: no such key: cpu (on every cluster, for instance aws-gpu)"},
		"fails, but another not": {predicates: []clusterv1beta1.ClusterPredicate{celPredicate(`managedCluster.metadata.labels.cpu == "yes"`), label("gpu", "no")}, wantMisconfigured: "celExpressions[0]: no such key: cpu"},
		"does not compile":       {predicates: []clusterv1beta1.ClusterPredicate{label("gpu", "yes"), celPredicate(`managedCluster.nothing(`)}, wantMisconfigured: "spec.predicates[1].requiredClusterSelector.celSelector.celExpressions[0]: does not compile: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cluster("aws-gpu", labelled("gpu", "yes"), claimed("cloud", "aws"))
			w.cluster("aws-plain", claimed("cloud", "aws"))
			w.cluster("gcp-gpu", labelled("gpu", "yes"), claimed("cloud", "gcp"))
			d := w.decide(place(t, clusterv1beta1.PlacementSpec{Predicates: tt.predicates}), nil)
			if got := SelectedNames(&d); !slices.Equal(got, tt.want) {
				t.Errorf("selected %v, want %v", got, tt.want)
			}
			wantStatus := map[bool]string{true: "True", false: "False"}[tt.wantMisconfigured != ""]
			if c := d.Conditions[1]; c.Status != wantStatus || !strings.Contains(c.Message, tt.wantMisconfigured) {
				t.Errorf("misconfigured is %s %q, want %s with %q", c.Status, c.Message, wantStatus, tt.wantMisconfigured)
			}
		})
	}
}

func TestNameThatIsNoLabel(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{63: 1, 64: 0} {
		w := newWorld(t)
		w.cluster("a")
		d := w.decide(place(t, clusterv1beta1.PlacementSpec{}, func(p *schemas.Placement) { p.Name = strings.Repeat("n", length) }), nil)
		misconfigured := d.Conditions[1]
		if len(d.Clusters) != want || (misconfigured.Status == "True") != (want == 0) {
			t.Errorf("of %d characters: selected %v, misconfigured %+v", length, d.Clusters, misconfigured)
		}
		if want == 0 && (!strings.Contains(misconfigured.Message, "metadata.name has 64 characters") || d.Rejected["Misconfigured"] != 1) {
			t.Errorf("it says %q, rejected %v", misconfigured.Message, d.Rejected)
		}
	}
}
