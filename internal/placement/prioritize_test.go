package placement

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

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
		"AddOn without addOn":   {policy: exact(clusterv1beta1.PrioritizerConfig{Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: "AddOn"}}), wantProblem: "without addOn"},
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

func TestStalePolicies(t *testing.T) {
	t.Parallel()
	const validFor = time.Minute
	tests := map[string]struct {
		policy string
		weight int32
		at     time.Duration // after the scores were given
		prior  []string
		want   []string
	}{
		"all fresh":                         {policy: StaleHold, weight: 1, at: validFor, want: []string{"good", "bad"}},
		"hold, selected, in the grace":      {policy: StaleHold, weight: 1, at: validFor + 1, prior: []string{"good"}, want: []string{"good", "late"}},
		"hold, selected, at its end":        {policy: StaleHold, weight: 1, at: validFor + 30*time.Second, prior: []string{"good"}, want: []string{"late"}},
		"hold, not selected":                {policy: StaleHold, weight: 1, at: validFor + 1, want: []string{"late"}},
		"exclude, selected":                 {policy: StaleExclude, weight: 1, at: validFor + 1, prior: []string{"good"}, want: []string{"late"}},
		"worst, behind a bad score":         {policy: StaleWorst, weight: 1, at: validFor + 1, want: []string{"late", "bad"}},
		"worst, whatever the weight's sign": {policy: StaleWorst, weight: -1, at: validFor + 1, want: []string{"late", "bad"}},
		"zero, as OCM":                      {policy: StaleZero, weight: 1, at: validFor + 1, want: []string{"bad", "good"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, name := range []string{"bad", "good", "late", "never"} {
				w.cluster(name)
			}
			w.score("good", "gpu", 90, validFor)
			w.score("bad", "gpu", -50, validFor)
			w.score("late", "gpu", -60, time.Hour)
			p := place(t, clusterv1beta1.PlacementSpec{NumberOfClusters: number(2), PrioritizerPolicy: exact(addOnOf("gpu", tt.weight))},
				annotated(AnnotationStalePolicy, tt.policy))
			w.now = start.Add(tt.at)
			d := w.decide(p, selecting(tt.prior...))
			if got := SelectedNames(&d); !slices.Equal(got, tt.want) {
				t.Errorf("selected %v, want %v", got, tt.want)
			}
		})
	}
}

func TestHoldIsExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.score("a", "gpu", 90, time.Minute)
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))}, annotated(AnnotationStaleGrace, "10s"))
	fresh := w.decide(p, nil)
	if got := fresh.Timers["ScoreExpiry"]; !got.Equal(start.Add(time.Minute + 1)) {
		t.Errorf("expiry timer %v", got)
	}
	w.now = start.Add(65 * time.Second)
	held := w.decide(p, after(fresh))
	if e := explanation(held, "a"); e.Reason != ExplainedHeld || held.Cause != CauseScoreHeld || Changed(&fresh, &held) != Material {
		t.Errorf("explained as %s, cause %s: want Held and published", e.Reason, held.Cause)
	}
	if got := held.Timers["StaleGrace"]; !got.Equal(start.Add(70 * time.Second)) {
		t.Errorf("grace timer %v", got)
	}
	w.now = start.Add(70 * time.Second)
	gone := w.decide(p, after(held))
	if e := explanation(gone, "a"); len(gone.Clusters) != 0 || e.Reason != "StaleScore" || gone.Cause != CauseScoreExpired {
		t.Errorf("%v, explained as %s, cause %s: want StaleScore, ScoreExpired", gone.Clusters, e.Reason, gone.Cause)
	}
}

func TestWithdrawnScoreIsHeldFromItsWithdrawal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.score("a", "gpu", 90, time.Hour)
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))})
	first := w.decide(p, nil)
	w.noScore("a", "gpu")
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {29 * time.Second, 1}, {30 * time.Second, 0}} {
		w.now = start.Add(step.after)
		w.noScore("a", "gpu") // again and again: the grace does not grow
		if d := w.decide(p, after(first)); len(d.Clusters) != step.want {
			t.Errorf("after %v: %d selected, want %d", step.after, len(d.Clusters), step.want)
		}
	}
}

func TestOurScoresWinOverOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))})
	w.fleet.SetAddOnScore(addOnScoreObject("a", "gpu", 7), w.now)
	if d := w.decide(p, nil); d.Clusters[0].Score != 7 {
		t.Errorf("score %d, want the other's", d.Clusters[0].Score)
	}
	w.score("a", "gpu", 9, time.Minute)
	if d := w.decide(p, nil); d.Clusters[0].Score != 9 {
		t.Errorf("score %d, want ours", d.Clusters[0].Score)
	}
	w.fleet.DeleteScore("a", "gpu", w.now)
	if d := w.decide(p, nil); d.Clusters[0].Score != 7 {
		t.Errorf("score %d, want the other's again", d.Clusters[0].Score)
	}
}

func TestScoreThatOnlyHoldsLongerIsNoNews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if !w.score("a", "gpu", 5, time.Minute) {
		t.Error("the first score is news")
	}
	w.now = w.now.Add(time.Second)
	if w.score("a", "gpu", 5, time.Minute) {
		t.Error("the same value for longer is none")
	}
	if !w.score("a", "gpu", 6, time.Minute) {
		t.Error("another value is news")
	}
	if !w.score("a", "gpu", 6, time.Second) {
		t.Error("an earlier expiry is news")
	}
	w.now = w.now.Add(time.Minute)
	if !w.score("a", "gpu", 6, time.Minute) {
		t.Error("the same value after its expiry is news")
	}
}
