package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/expression"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func celSpec(expressions ...string) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{celPredicate(expressions...)}, PrioritizerPolicy: exact()}
}

// costly costs some 300 a cluster, and more for one with the label.
const costly = `managedCluster.scores("gpu").exists(s, s.value > 10)`

// TestNobodyIsAskedTwice counts the clusters whose opinion is another after a
// change.
func TestNobodyIsAskedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.cluster(fmt.Sprintf("c%02d", i))
		w.score(fmt.Sprintf("c%02d", i), "gpu", int32(i), time.Hour)
	}
	r := NewRanking(place(t, celSpec(costly)), w.fleet, nil)
	r.Refresh(w.now)
	if len(r.choice.ids) != 9 {
		t.Fatalf("%d clusters, want 9", len(r.choice.ids))
	}
	tests := []struct {
		name   string
		change func()
		want   int // who is asked
	}{
		{"nothing", func() {}, 0},
		{"another scorer", func() { w.score("c03", "net", 5, time.Hour) }, 0},
		{"a score that is read", func() { w.score("c03", "gpu", 50, time.Hour) }, 1},
		{"the same score for longer", func() { w.score("c03", "gpu", 50, 2*time.Hour) }, 1},
		{"a cluster", func() { w.cluster("c04", labelled("x", "y")) }, 1},
		{"the same cluster", func() { w.cluster("c04", labelled("x", "y")) }, 0},
		{"another Placement's decision", func() { w.fleet.SetDecision(Key{"default", "q"}, []string{"c05"}) }, 0},
		{"an unrelated set", func() { w.set("other") }, 0},
		{"the set", func() { w.fleet.DeleteClusterSet("default") }, 20},
	}
	for _, tt := range tests {
		before := slices.Clone(r.opinions.of)
		tt.change()
		r.Refresh(w.now)
		asked := 0
		for id, o := range r.opinions.of {
			if o != before[id] {
				asked++
			}
		}
		if asked != tt.want {
			t.Errorf("%s: %d clusters are asked, want %d", tt.name, asked, tt.want)
		}
	}
}

func TestExpiredScoresInExpressions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		policy        string
		theirs        bool
		before        bool // a was selected
		want          bool // right after its expiry
		wantAfterHold bool
	}{
		"hold":                   {policy: StaleHold, before: true, want: true},
		"hold, not selected":     {policy: StaleHold},
		"exclude, with a grace":  {policy: StaleExclude, before: true, want: true},
		"worst, with a grace":    {policy: StaleWorst, before: true, want: true},
		"zero":                   {policy: StaleZero, before: true},
		"zero, as OCM has it":    {policy: StaleZero, theirs: true, want: true, wantAfterHold: true},
		"exclude what is theirs": {policy: StaleExclude, theirs: true, before: true, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cluster("a")
			w.score("a", "gpu", 50, time.Minute)
			if tt.theirs {
				w.fleet.DeleteScore("a", "gpu", w.now)
				until := w.now.Add(time.Minute)
				s := addOnScoreObject("a", "gpu", 50)
				s.ValidUntil = &until
				w.fleet.SetAddOnScore(s, w.now)
			}
			var prior *Prior
			if tt.before {
				prior = selecting("a")
			}
			p := place(t, celSpec(costly), annotated(AnnotationStalePolicy, tt.policy), annotated(AnnotationStaleGrace, "30s"))
			r := NewRanking(p, w.fleet, prior)
			next := r.Refresh(w.now)
			if len(r.choice.ids) != 1 {
				t.Fatal("a is not selected while its score holds")
			}
			for at, want := range map[time.Duration]bool{time.Minute + 1: tt.want, 90*time.Second + 1: tt.wantAfterHold} {
				d := Decide(Input{Placement: p, Fleet: w.fleet, Prior: prior}, w.now.Add(at))
				if got := len(d.Clusters) == 1; got != want {
					t.Errorf("after %s it is selected: %v, want %v", at, got, want)
				}
			}
			if changes := !tt.want || !tt.wantAfterHold; changes && next.IsZero() {
				t.Error("nobody looks again when the score expires")
			}
		})
	}
}

// TestFleetCost: the expression is within its limit on each cluster, and too
// expensive on all of them.
func TestFleetCost(t *testing.T) {
	t.Parallel()
	list := "[" + strings.Repeat("1,", 99) + "1]"
	loop := list + ".all(a, a < 2)"
	p := place(t, celSpec(`managedCluster.metadata.labels.cheap == "yes" || `+loop), generation(2))
	const clusters = 100
	order := func(reverse bool) *world {
		w := newWorld(t)
		for i := range clusters {
			if reverse {
				i = clusters - 1 - i
			}
			w.cluster(fmt.Sprintf("c%03d", i))
		}
		return w
	}
	w := order(false)
	r := limited(w, p)
	d := r.Decision()
	if got := SelectedNames(&d); !slices.Equal(got, []string{"c007"}) || !strings.Contains(d.Conditions[1].Message, "celExpressions[0]: the CEL expressions cost too much") {
		t.Fatalf("selected %v: %s", got, d.Conditions[1].Message)
	}
	again := limited(order(true), p).Decision()
	if again.Conditions[1] != d.Conditions[1] || again.Rejected["Misconfigured"] != clusters || d.Rejected["Misconfigured"] != clusters {
		t.Errorf("in another order it is %v %v, not %v %v", again.Conditions[1], again.Rejected, d.Conditions[1], d.Rejected)
	}
	for i := range clusters {
		w.cluster(fmt.Sprintf("c%03d", i), labelled("cheap", "yes"))
	}
	r.Refresh(w.now)
	if len(r.choice.ids) != clusters || r.choice.conditions[1].Status != "False" {
		t.Errorf("once it is cheap %d are selected: %+v", len(r.choice.ids), r.choice.conditions[1])
	}
	sum := uint64(0)
	for _, o := range r.opinions.of {
		sum += o.cost
	}
	if sum != r.opinions.spent {
		t.Errorf("spent is %d, want %d", r.opinions.spent, sum)
	}
}

// limited has a limit that some of the clusters reach.
func limited(w *world, p *Placement) *Ranking {
	r := NewRanking(p, w.fleet, selecting("c007"))
	r.opinions.limit = 20_000
	r.Refresh(w.now)
	return r
}

// endless goes through a list within a list within a list, and so on.
func endless() string {
	list := "[" + strings.Repeat("1,", 99) + "1]"
	inner := "managedCluster.metadata.name == ''"
	for i := range 5 {
		inner = fmt.Sprintf("%s.exists(x%d, %s)", list, i, inner)
	}
	return "!" + inner
}

// TestAnEndlessExpressionIsGivenUp counts the evaluations, each of which takes
// as long as thousands of decisions: few, whatever the number of clusters, and
// no more unless one of the clusters changes that were asked about.
func TestAnEndlessExpressionIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const clusters = 50
	for i := range clusters {
		w.cluster(fmt.Sprintf("c%02d", i))
	}
	spec := celSpec(endless())
	spec.PrioritizerPolicy = exact(addOnOf("gpu", 1))
	r := NewRanking(place(t, spec, generation(2)), w.fleet, selecting("c07"))
	asks := 0
	for !r.Ask(w.now, expression.MaxCost/20) {
		if asks++; r.Asked() != asks {
			t.Fatalf("%d evaluations at the %dth time, want one each", r.Asked(), asks)
		}
	}
	for i := range 20 {
		r.Refresh(w.now)
		w.now = w.now.Add(time.Minute)
		w.score(fmt.Sprintf("c%02d", i), "gpu", int32(i), time.Hour)
		w.cluster(fmt.Sprintf("c%02d", clusters-1-i), labelled("x", fmt.Sprint(i)))
		w.fleet.SetDecision(Key{"default", "q"}, []string{fmt.Sprintf("c%02d", i)})
		d := r.Decision()
		if got := SelectedNames(&d); !slices.Equal(got, []string{"c07"}) || !strings.Contains(d.Conditions[1].Message, "celExpressions[0]: the CEL expressions cost too much") {
			t.Fatalf("selected %v: %s", got, d.Conditions[1].Message)
		}
		r.SetPrior(&Prior{Decision: &d, Sequence: uint64(i) + 1})
	}
	w.fleet.SetPolicy(&schemas.PlacementPolicySpec{DeadBand: new(int64)})
	r.Refresh(w.now)
	if r.Asked() != maxExhausted+1 {
		t.Errorf("%d evaluations, want %d", r.Asked(), maxExhausted+1)
	}
	w.cluster("c00", labelled("x", "y"))
	r.Refresh(w.now)
	if r.Asked() != maxExhausted+2 {
		t.Errorf("%d evaluations after a change of one cluster, want %d", r.Asked(), maxExhausted+2)
	}
}

// TestFewClustersMayExhaustAnExpression: they do not match, and the others are
// judged as if they were not there.
func TestFewClustersMayExhaustAnExpression(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 6 {
		w.cluster(fmt.Sprintf("c%d", i), labelled("large", map[bool]string{true: "yes", false: "no"}[i < maxExhausted]))
	}
	d := w.decide(place(t, celSpec(`managedCluster.metadata.labels.large == "no" || `+endless())), nil)
	if got := SelectedNames(&d); len(got) != 4 || d.Rejected["Expression"] != maxExhausted || d.Conditions[1].Status != conditionFalse {
		t.Errorf("selected %v, rejected %v: %s", got, d.Rejected, d.Conditions[1].Message)
	}
}

// TestAskingAheadChangesNothing: a ranking that asked in small parts, while
// things changed, is like one that asks at once, and asks nobody twice.
func TestAskingAheadChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const clusters = 60
	name := func(i int) string { return fmt.Sprintf("c%02d", i) }
	for i := range clusters {
		w.cluster(name(i))
		w.score(name(i), "gpu", int32(i), time.Hour)
	}
	p := place(t, celSpec(costly))
	r := NewRanking(p, w.fleet, nil)
	steps := 0
	for ; !r.Ask(w.now, 100); steps++ {
		switch steps {
		case 3:
			w.score(name(0), "gpu", 90, time.Hour) // asked already
			w.cluster(name(clusters-1), labelled("x", "y"))
			w.cluster("late")
			w.score("late", "gpu", 91, time.Hour)
		case 5:
			w.fleet.DeleteCluster(name(30))
		}
	}
	before := r.Asked()
	r.Refresh(w.now)
	if steps < 5 || before > clusters || r.Asked() != before+1 {
		t.Errorf("in %d steps %d were asked, and then %d", steps, before, r.Asked()-before)
	}
	got, want := r.Decision(), w.decide(p, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it differs: %s", diff)
	}
	w.set("other")
	if !r.Ask(w.now, 1) || r.Asked() != before+1 {
		t.Errorf("for a set that nobody is in, %d were asked anew", r.Asked()-before-1)
	}
}

func TestResourcesOfExpressions(t *testing.T) {
	t.Parallel()
	spec := celSpec(costly, `managedCluster.scores(managedCluster.metadata.name).size() > 0`)
	spec.PrioritizerPolicy = exact(addOnOf("net", 1))
	if got := place(t, spec).Resources(); !slices.Equal(got, []string{"net", "gpu", AnyResource}) {
		t.Errorf("it reads %v", got)
	}
}

func TestOrderOfAddOnScores(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	s := &schemas.AddOnScore{Cluster: "a", Name: "theirs", Scores: map[string]int32{"x": 1, "y": 2, "z": 3}, Order: []string{"z", "x", "gone", "z"}}
	w.fleet.SetAddOnScore(s, w.now)
	d := w.decide(place(t, celSpec(`managedCluster.scores("theirs").map(s, s.name) == ["z", "x", "y"]`)), nil)
	if len(d.Clusters) != 1 {
		t.Errorf("selected none: %v", d.Conditions)
	}
}
