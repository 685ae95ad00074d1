package placement

import (
	"maps"
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func TestWeights(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policy      clusterv1beta1.PrioritizerPolicy
		want        map[string]int64 // the sum of the weights by name
		wantProblem string
	}{
		"default":               {want: map[string]int64{"Steady": 1, "Balance": 1}},
		"Additive adds":         {policy: clusterv1beta1.PrioritizerPolicy{Mode: "Additive", Configurations: []clusterv1beta1.PrioritizerConfig{addOnOf("gpu", 2)}}, want: map[string]int64{"Steady": 1, "Balance": 1, "AddOn/gpu/gpu": 2}},
		"Additive overrides":    {policy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{builtIn("Steady", 3)}}, want: map[string]int64{"Steady": 3, "Balance": 1}},
		"0 switches off":        {policy: clusterv1beta1.PrioritizerPolicy{Configurations: []clusterv1beta1.PrioritizerConfig{builtIn("Steady", 0)}}, want: map[string]int64{"Balance": 1}},
		"Exact has no defaults": {policy: exact(addOnOf("gpu", 1)), want: map[string]int64{"AddOn/gpu/gpu": 1}},
		"Exact of nothing":      {policy: exact(), want: map[string]int64{}},
		"a built-in twice":      {policy: exact(builtIn("Steady", 1), builtIn("Steady", 5)), want: map[string]int64{"Steady": 5}},
		"an AddOn twice":        {policy: exact(addOnOf("gpu", 1), addOnOf("gpu", 5)), want: map[string]int64{"AddOn/gpu/gpu": 6}},
		"an unknown built-in":   {policy: exact(builtIn("Luck", 1)), wantProblem: `"Luck"`},
		"an unknown one at 0":   {policy: exact(builtIn("Luck", 0)), want: map[string]int64{}},
		"an unknown mode":       {policy: clusterv1beta1.PrioritizerPolicy{Mode: "Roughly"}, wantProblem: `"Roughly"`},
		"no coordinate":         {policy: exact(clusterv1beta1.PrioritizerConfig{Weight: 1}), wantProblem: "scoreCoordinate is missing"},
		"AddOn without addOn":   {policy: exact(clusterv1beta1.PrioritizerConfig{Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: "AddOn"}}), wantProblem: "configurations[0].scoreCoordinate.addOn is missing"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms, err := termsOf(tt.policy)
			if (err != nil) != (tt.wantProblem != "") || err != nil && !strings.Contains(err.Error(), tt.wantProblem) {
				t.Fatalf("error %v, want %q", err, tt.wantProblem)
			}
			got := map[string]int64{}
			for _, term := range terms {
				got[term.name] += term.weight
			}
			if err == nil && !maps.Equal(got, tt.want) {
				t.Errorf("terms %v, want %v", got, tt.want)
			}
		})
	}
}

func TestBalanceScore(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		count, most int32
		want        int64
	}{
		"none":      {0, 3, 100},
		"1 of 3":    {1, 3, 32},
		"2 of 3":    {2, 3, -32},
		"the most":  {3, 3, -100},
		"half":      {2, 4, 0},
		"the only":  {1, 1, -100},
		"1 of 7":    {1, 7, 70},
		"no counts": {0, 0, 100},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := balanceScore(tt.count, tt.most); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestBalanceCountsOtherPlacements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.cluster(name)
	}
	w.fleet.SetDecision(Key{"default", "p"}, []string{"b"}) // our own does not count
	w.fleet.SetDecision(Key{"default", "q"}, []string{"a", "elsewhere"})
	w.fleet.SetDecision(Key{"other", "p"}, []string{"a", "c"})
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(builtIn("Balance", 1))})
	if got, want := scoresOf(w.decide(p, nil)), map[string]int64{"a": -100, "b": 100, "c": 0}; !maps.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
	w.fleet.DeleteDecision(Key{"other", "p"})
	if got, want := scoresOf(w.decide(p, nil)), map[string]int64{"a": -100, "b": 100, "c": 100}; !maps.Equal(got, want) {
		t.Errorf("after a decision went: scores %v, want %v", got, want)
	}
}

func TestResourceScore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("least", having("2", "4Gi"))
	w.cluster("third", having("4666m", "8Gi"))
	w.cluster("most", having("10", "16Gi"))
	w.cluster("silent")
	w.cluster("elsewhere", inSet("other"), having("100", "1Ti")) // sets no bounds
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(builtIn("ResourceAllocatableCPU", 1))})
	want := map[string]int64{"least": -100, "third": -33, "most": 100, "silent": 0}
	if got := scoresOf(w.decide(p, nil)); !maps.Equal(got, want) {
		t.Errorf("cpu scores %v, want %v", got, want)
	}
	p = place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(builtIn("ResourceAllocatableMemory", 2))})
	want = map[string]int64{"least": -200, "third": -66, "most": 200, "silent": 0}
	if got := scoresOf(w.decide(p, nil)); !maps.Equal(got, want) {
		t.Errorf("memory scores %v, want %v", got, want)
	}
}

func TestEqualResourcesAreTheBest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a", having("2", "4Gi"))
	w.cluster("b", having("2", "8Gi"))
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(builtIn("ResourceAllocatableCPU", 1))})
	if got, want := scoresOf(w.decide(p, nil)), map[string]int64{"a": 100, "b": 100}; !maps.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

func TestSteady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b")
	p := place(t, clusterv1beta1.PlacementSpec{NumberOfClusters: number(1)})
	if d := w.decide(p, selecting("b")); d.Clusters[0].Name != "b" || d.Clusters[0].Score != 200 {
		t.Errorf("selected %v, want b with Steady and Balance", d.Clusters)
	}
}
