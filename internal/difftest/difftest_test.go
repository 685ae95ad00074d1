package difftest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

var (
	now  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	size = Size{Clusters: 8, Placements: 2, Large: 20, Shared: 10}
)

func TestASeedRepeatsItsFleets(t *testing.T) {
	a, b := Generate(7, 3, size, now), Generate(7, 3, size, now)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("seed 7 gives two fleets: %s", diff)
	}
	if c := Generate(8, 3, size, now); cmp.Equal(a, c) {
		t.Error("seeds 7 and 8 give the same fleet")
	}
}

func TestChangesRepeatAndKeepAnswersFreeOfHistory(t *testing.T) {
	changed := 0
	for i := range 100 {
		f := Generate(7, i, size, now)
		before := Generate(7, i, size, now)
		after := f.Change(7, i, now)
		if diff := cmp.Diff(before, f); diff != "" {
			t.Fatalf("a change reaches the fleet before it: %s", diff)
		}
		if !cmp.Equal(after, f.Change(7, i, now)) {
			t.Error("one seed gives two changes")
		}
		if !cmp.Equal(after, before) {
			changed++
		}
		for j, p := range after.Placements {
			if !cmp.Equal(p.Spec.Tolerations, f.Placements[j].Spec.Tolerations) {
				t.Errorf("fleet %d: the tolerations of %s changed", i, p.Name)
			}
		}
		if was, is := ifNew(&f), ifNew(&after); is > was {
			t.Errorf("fleet %d: %d taints NoSelectIfNew became %d", i, was, is)
		}
	}
	if changed < 95 {
		t.Errorf("only %d of 100 fleets changed", changed)
	}
}

func ifNew(f *Fleet) int {
	n := 0
	for _, c := range f.Clusters {
		for _, t := range c.Spec.Taints {
			if t.Effect == clusterv1.TaintEffectNoSelectIfNew {
				n++
			}
		}
	}
	return n
}

// TestFleetsKeepToThemselves checks what lets fleets share a hub.
func TestFleetsKeepToThemselves(t *testing.T) {
	for i := range 100 {
		f := Generate(1, i, size, now)
		for _, c := range f.Clusters {
			if !strings.HasPrefix(c.Name, f.Name+"-") || c.Labels[LabelFleet] != f.Name {
				t.Errorf("cluster %s with labels %v is not of fleet %s alone", c.Name, c.Labels, f.Name)
			}
		}
		for _, s := range f.Sets {
			selector := s.Spec.ClusterSelector
			open := selector.LabelSelector != nil && selector.LabelSelector.MatchLabels[LabelFleet] != f.Name
			if !strings.HasPrefix(s.Name, f.Name+"-") || open {
				t.Errorf("set %s with selector %v selects clusters of other fleets", s.Name, selector)
			}
		}
	}
}

// TestFleetsHaveEverything counts over many fleets what a comparison must
// have seen.
func TestFleetsHaveEverything(t *testing.T) {
	seen := map[string]int{}
	for i := range 300 {
		f := Generate(1, i, size, now)
		note(seen, &f)
	}
	for _, want := range []string{
		"set by label", "set by selector", "set without selector", "namespace without binding", "binding of no set",
		"cluster in no set", "cluster deleting", "taint NoSelect", "taint PreferNoSelect", "taint NoSelectIfNew", "taint without time",
		"no capacity", "score missing", "no predicate", "several predicates", "label selector", "claim selector",
		"all clusters", "numberOfClusters 0", "more than there are", "tolerationSeconds", "any taint", "named sets",
		"BuiltIn", "AddOn", "negative weight", "no prioritizer", "known difference",
		"decision groups", "group names twice", "groups by share", "groups by number", "bad share", "more than a page",
		"expression", "expression on scores", "expression on what is not carried", "default or global set",
	} {
		if seen[want] < 3 {
			t.Errorf("300 fleets have %q %d times", want, seen[want])
		}
	}
	if known, all := seen["known difference"], 300*size.Placements; known > all/10 {
		t.Errorf("%d of %d Placements may differ, which leaves too few to compare", known, all)
	}
}

func note(seen map[string]int, f *Fleet) {
	count := func(what string, is bool) {
		if is {
			seen[what]++
		}
	}
	for _, s := range f.Sets {
		selector := s.Spec.ClusterSelector
		byLabel := selector.SelectorType == clusterv1beta2.ExclusiveClusterSetLabel
		count("set by label", byLabel)
		count("set by selector", selector.LabelSelector != nil)
		count("set without selector", !byLabel && selector.LabelSelector == nil)
	}
	for _, namespace := range f.Namespaces {
		count("namespace without binding", !slices.ContainsFunc(f.Bindings, func(b *clusterv1beta2.ManagedClusterSetBinding) bool { return b.Namespace == namespace }))
	}
	for _, b := range f.Bindings {
		count("binding of no set", b.Name == f.Name+"-nowhere")
	}
	for _, c := range f.Clusters {
		count("cluster in no set", c.Labels[clusterv1beta2.ClusterSetLabel] == "")
		count("cluster deleting", c.DeletionTimestamp != nil)
		count("no capacity", len(c.Status.Capacity) < len(c.Status.Allocatable))
		for _, t := range c.Spec.Taints {
			count("taint "+string(t.Effect), true)
			count("taint without time", t.TimeAdded.IsZero())
		}
	}
	count("score missing", !f.Large && len(f.Scores) < len(scoreResources)*len(f.Clusters))
	for _, p := range f.Placements {
		notePlacement(count, f, p)
	}
}

func notePlacement(count func(string, bool), f *Fleet, p *clusterv1beta1.Placement) {
	s := p.Spec
	count("known difference", f.Known(p, now, Outcome{}) != "")
	count("decision groups", len(s.DecisionStrategy.GroupStrategy.DecisionGroups) > 0)
	count("group names twice", groupNamesTwice(p))
	per := s.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup
	count("groups by share", strings.HasSuffix(per.StrVal, "%"))
	count("groups by number", per.IntVal > 0)
	count("bad share", badShare(p))
	count("more than a page", f.Large && (s.NumberOfClusters == nil || *s.NumberOfClusters > 100))
	count("expression", usesCEL(p))
	count("expression on scores", readsScores(p))
	count("expression on what is not carried", readsUncarried(p))
	count("default or global set", f.Shared)
	count("no predicate", len(s.Predicates) == 0)
	count("several predicates", len(s.Predicates) > 1)
	for _, p := range s.Predicates {
		count("label selector", len(p.RequiredClusterSelector.LabelSelector.MatchExpressions) > 0)
		count("claim selector", len(p.RequiredClusterSelector.ClaimSelector.MatchExpressions) > 0)
	}
	count("all clusters", s.NumberOfClusters == nil)
	count("numberOfClusters 0", s.NumberOfClusters != nil && *s.NumberOfClusters == 0)
	count("more than there are", s.NumberOfClusters != nil && int(*s.NumberOfClusters) > len(f.Clusters))
	count("named sets", len(s.ClusterSets) > 0)
	for _, t := range s.Tolerations {
		count("tolerationSeconds", t.TolerationSeconds != nil)
		count("any taint", t.Key == "")
	}
	count("no prioritizer", len(s.PrioritizerPolicy.Configurations) == 0)
	for _, c := range s.PrioritizerPolicy.Configurations {
		count(c.ScoreCoordinate.Type, true)
		count("negative weight", c.Weight < 0)
	}
}

func TestDirectIsATwin(t *testing.T) {
	f := Generate(1, 1, size, now)
	p := f.Placements[0]
	before := p.DeepCopy()
	twin := Direct(p)
	if twin.Name == p.Name || twin.Annotations[clusterv1beta1.PlacementDisableAnnotation] != "true" || !cmp.Equal(twin.Spec, p.Spec) {
		t.Errorf("the twin of %s is %s", YAML(p), YAML(twin))
	}
	if !cmp.Equal(before, p) {
		t.Error("making a twin changed the Placement")
	}
}

func TestKnown(t *testing.T) {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	cases := map[string]struct {
		change func(*Fleet, *clusterv1beta1.Placement)
		want   bool
	}{
		"complete":  {func(*Fleet, *clusterv1beta1.Placement) {}, false},
		"no object": {func(f *Fleet, _ *clusterv1beta1.Placement) { f.Scores = nil }, true},
		"no item":   {func(f *Fleet, _ *clusterv1beta1.Placement) { f.Scores[0].Status.Scores = nil }, true},
		"expired":   {func(f *Fleet, _ *clusterv1beta1.Placement) { f.Scores[0].Status.ValidUntil = &metav1.Time{Time: now} }, true},
		"tolerated for 300 years": {func(_ *Fleet, p *clusterv1beta1.Placement) {
			seconds := int64(300 * 366 * 86400)
			p.Spec.Tolerations = []clusterv1beta1.Toleration{{TolerationSeconds: &seconds}}
		}, true},
		"not counted": {func(f *Fleet, p *clusterv1beta1.Placement) {
			f.Scores, p.Spec.PrioritizerPolicy.Configurations = nil, nil
		}, false},
		"asks for OCM's way": {func(f *Fleet, p *clusterv1beta1.Placement) {
			f.Scores, p.Annotations = nil, map[string]string{annotationStalePolicy: stalePolicyZero}
		}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := Fleet{Clusters: []*clusterv1.ManagedCluster{cluster}, Scores: scoresOf(draw{rand.New(rand.NewPCG(1, 1))}, "c", now)[:1]}
			p := &clusterv1beta1.Placement{}
			p.Spec.PrioritizerPolicy.Configurations = []clusterv1beta1.PrioritizerConfig{{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: "AddOn", AddOn: &clusterv1beta1.AddOnScore{ResourceName: scoreResources[0], ScoreName: scoreItems[0]},
			}}}
			c.change(&f, p)
			if got := f.Known(p, now, Outcome{}); (got != "") != c.want {
				t.Errorf("Known is %q, want one: %v", got, c.want)
			}
		})
	}
}
