package placement

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

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

func TestScoresForEverDoNotExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	always := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	w.cluster("ours")
	w.cluster("theirs")
	value := int32(90)
	w.fleet.SetScore(&schemas.Score{Cluster: "ours", Scorer: "gpu", ValidUntil: &always, Items: []schemas.ScoreItem{{Name: "gpu", Value: &value}}}, w.now, w.now)
	theirs := addOnScoreObject("theirs", "gpu", 80)
	theirs.ValidUntil = &always
	w.fleet.SetAddOnScore(theirs, w.now)
	w.now = start.Add(time.Hour)
	d := w.decide(place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))}), nil)
	if got := SelectedNames(&d); !slices.Equal(got, []string{"ours", "theirs"}) || len(d.Timers) > 0 {
		t.Errorf("selected %v with timers %v, want both clusters and no timer", got, d.Timers)
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

func TestGraceUntilAfterTheEndOfTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.score("a", "gpu", 90, time.Minute)
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))}, annotated(AnnotationStaleGrace, "2500000h"))
	first := w.decide(p, nil)
	w.now = start.Add(time.Hour)
	if d := w.decide(p, after(first)); explanation(d, "a").Reason != ExplainedHeld || len(d.Timers) != 0 {
		t.Errorf("explained as %s with timers %v, want Held and none", explanation(d, "a").Reason, d.Timers)
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

func TestWithdrawnScoreIsHeldAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster("a")
	w.score("a", "gpu", 90, time.Hour)
	p := place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))})
	first := w.decide(p, nil)
	again := newWorld(t) // it never saw the value
	again.cluster("a")
	again.noScore("a", "gpu")
	again.now = start.Add(10 * time.Second)
	if d := again.decide(p, after(first)); len(d.Clusters) != 1 || d.Clusters[0].Score != 90 || explanation(d, "a").Reason != ExplainedHeld {
		t.Errorf("selected %v, want a held at 90", d.Clusters)
	}
	if d := again.decide(p, nil); len(d.Clusters) != 0 {
		t.Errorf("selected %v without a past", d.Clusters)
	}
	again.now = start.Add(31 * time.Second)
	if d := again.decide(p, after(first)); len(d.Clusters) != 0 {
		t.Errorf("selected %v after the grace", d.Clusters)
	}
}

func TestWhyThereIsNoScoreIsTold(t *testing.T) {
	t.Parallel()
	none := func(message string) func(*world) {
		return func(w *world) {
			w.fleet.SetScore(&schemas.Score{Cluster: "a", Scorer: "gpu", Items: []schemas.ScoreItem{{Name: "gpu", Reason: schemas.ScoreNoSample, Message: message}}}, w.now, w.now)
		}
	}
	first := func(w *world) { w.score("a", "gpu", 90, time.Minute) }
	later := func(w *world) { w.now = w.now.Add(2 * time.Minute) }
	const long = "0123456789abcdef"
	for name, tt := range map[string]struct {
		steps       []func(*world)
		policy      string
		want        string // of a cluster that is not eligible
		wantOfScore string // of one that is
	}{
		"never":                      {want: "score AddOn/gpu/gpu is missing"},
		"never, counted":             {policy: StaleWorst, wantOfScore: "is missing, counted as the worst"},
		"never had a value":          {steps: []func(*world){none("no source has a sample of x")}, want: "score AddOn/gpu/gpu has no value: NoSample (no source has a sample of x)"},
		"without a message":          {steps: []func(*world){none("")}, want: "score AddOn/gpu/gpu has no value: NoSample"},
		"a long message":             {steps: []func(*world){none(strings.Repeat(long, 1000))}, want: "score AddOn/gpu/gpu has no value: NoSample (" + strings.Repeat(long, 16) + ")"},
		"withdrawn":                  {steps: []func(*world){first, none("gone"), later}, want: "score AddOn/gpu/gpu has no value: NoSample (gone)"},
		"withdrawn after its expiry": {steps: []func(*world){first, later, none("gone")}, want: "score AddOn/gpu/gpu has no value: NoSample (gone)"},
		"withdrawn, counted":         {policy: StaleZero, steps: []func(*world){first, none("gone"), later}, wantOfScore: "has no value: NoSample (gone), counted as 0"},
		"expired":                    {steps: []func(*world){first, later}, want: "score AddOn/gpu/gpu expired at 2026-11-30T12:01:00Z"},
		"back, and expired":          {steps: []func(*world){none("gone"), first, later}, want: "score AddOn/gpu/gpu expired at 2026-11-30T12:01:00Z"},
		"deleted":                    {steps: []func(*world){first, func(w *world) { w.fleet.DeleteScore("a", "gpu", w.now) }}, want: "score AddOn/gpu/gpu is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cluster("a")
			for _, step := range tt.steps {
				step(w)
			}
			d := w.decide(place(t, clusterv1beta1.PlacementSpec{PrioritizerPolicy: exact(addOnOf("gpu", 1))}, annotated(AnnotationStalePolicy, cmp.Or(tt.policy, StaleExclude))), nil)
			e := explanation(d, "a")
			if tt.want != "" && e.Message != tt.want {
				t.Errorf("message %q, want %q", e.Message, tt.want)
			}
			if tt.wantOfScore != "" && e.Prioritizers[0].Message != tt.wantOfScore {
				t.Errorf("message %q, want %q", e.Prioritizers[0].Message, tt.wantOfScore)
			}
		})
	}
}

// TestAScorersWordsAreNotOurs: a message that reads like ours makes no number
// known.
func TestAScorersWordsAreNotOurs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"expired at 2026-11-30T12:01:00Z, held until 2026-11-30T12:01:30Z": true,
		"has no value: NoSample (x), held until 2026-11-30T12:01:30Z":      true,
		"has no value: NoSample (, held until 2026-11-30T12:01:30Z)":       false,
		"has no value: A (, held until then), counted as the worst":        false,
		"":                     false,
		"2026-11-30T12:01:30Z": false,
	} {
		if got := wasHeld(text); got != want {
			t.Errorf("wasHeld(%q) = %v", text, got)
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
