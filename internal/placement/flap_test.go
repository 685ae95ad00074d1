package placement

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// tale is one Placement's decisions, each with what the one before it
// remembers, read back from its JSON as a restart does.
type tale struct {
	*world
	placement *Placement
	last      *Prior
}

// tell starts with cluster "b" selected; "a" has 50, "b" 60.
func tell(t *testing.T, annotations map[string]string) *tale {
	w := newWorld(t)
	w.cluster("a")
	w.cluster("b")
	p := place(t, onGPU(1), func(p *schemas.Placement) { p.Annotations = annotations })
	h := &tale{world: w, placement: p}
	h.at(0, 50, 60)
	return h
}

// at decides after so many seconds from the start, with new scores.
func (h *tale) at(seconds int, a, b int32) schemas.PlacementDecision {
	h.t.Helper()
	h.now = start.Add(time.Duration(seconds) * time.Second)
	h.score("a", "gpu", a, time.Hour)
	h.score("b", "gpu", b, time.Hour)
	return h.decideAt(seconds)
}

func (h *tale) decideAt(seconds int) schemas.PlacementDecision {
	h.t.Helper()
	h.now = start.Add(time.Duration(seconds) * time.Second)
	d := h.decide(h.placement, h.last)
	if h.last == nil || Changed(h.last.Decision, &d) == Material {
		body, err := json.Marshal(&d)
		if err != nil {
			h.t.Fatal(err)
		}
		read := new(schemas.PlacementDecision)
		if err := json.Unmarshal(body, read); err != nil {
			h.t.Fatal(err)
		}
		h.last = &Prior{Decision: read, Sequence: 1}
	}
	return d
}

func TestFlapControl(t *testing.T) {
	t.Parallel()
	type moment struct {
		at   int
		a, b int32
		want string
	}
	tests := map[string]struct {
		annotations map[string]string
		moments     []moment
		wantTimer   string // of the last moment but one
	}{
		"off": {nil, []moment{{1, 61, 60, "a"}}, ""},
		"window, to its end": {map[string]string{AnnotationWindow: "1m"},
			[]moment{{10, 61, 60, "b"}, {69, 61, 60, "b"}, {70, 61, 60, "a"}}, "Stabilisation"},
		"window, with a break": {map[string]string{AnnotationWindow: "1m"},
			[]moment{{10, 61, 60, "b"}, {40, 60, 60, "b"}, {50, 61, 60, "b"}, {109, 61, 60, "b"}, {110, 61, 60, "a"}}, "Stabilisation"},
		"a break of the dead band": {map[string]string{AnnotationWindow: "1m", AnnotationDeadBand: "10"},
			[]moment{{10, 71, 60, "b"}, {40, 70, 60, "b"}, {70, 71, 60, "b"}, {130, 71, 60, "a"}}, "Stabilisation"},
		"a tie moves nothing": {map[string]string{AnnotationWindow: "1s"},
			[]moment{{10, 60, 60, "b"}, {70, 60, 60, "b"}}, ""},
		"decisive": {map[string]string{AnnotationWindow: "1m", AnnotationDecisiveLead: "30"},
			[]moment{{10, 90, 60, "b"}, {11, 91, 60, "a"}}, ""},
		"cooldown": {map[string]string{AnnotationCooldown: "1m"},
			[]moment{{10, 61, 60, "a"}, {20, 50, 60, "a"}, {69, 50, 60, "a"}, {70, 50, 60, "b"}}, "Cooldown"},
		"decisive in the cooldown": {map[string]string{AnnotationCooldown: "1m", AnnotationDecisiveLead: "30"},
			[]moment{{10, 61, 60, "a"}, {20, 50, 81, "b"}}, ""},
		"budget": {map[string]string{AnnotationBudget: "2/1m"},
			[]moment{{10, 61, 60, "a"}, {20, 50, 60, "b"}, {30, 61, 60, "b"}, {69, 61, 60, "b"}, {70, 61, 60, "a"}}, "ChangeBudget"},
		"decisive beyond the budget": {map[string]string{AnnotationBudget: "1/1m", AnnotationDecisiveLead: "1"},
			[]moment{{10, 90, 60, "a"}, {20, 0, 60, "a"}, {70, 0, 60, "b"}}, "ChangeBudget"},
		"dwell": {map[string]string{AnnotationDwell: "1m"},
			[]moment{{10, 61, 60, "b"}, {59, 61, 60, "b"}, {60, 61, 60, "a"}, {61, 50, 60, "a"}, {119, 50, 60, "a"}, {120, 50, 60, "b"}}, "MinimumDwell"},
		"the window goes on during the dwell": {map[string]string{AnnotationDwell: "1m", AnnotationWindow: "30s"},
			[]moment{{20, 61, 60, "b"}, {59, 61, 60, "b"}, {60, 61, 60, "a"}}, "MinimumDwell"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := tell(t, tt.annotations)
			for i, m := range tt.moments {
				d := h.at(m.at, m.a, m.b)
				if got := SelectedNames(&d); !slices.Equal(got, []string{m.want}) {
					t.Fatalf("at %d s: selected %v, want %s; %s", m.at, got, m.want, explanation(d, got[0]).Message)
				}
				if i != len(tt.moments)-2 || tt.wantTimer == "" {
					continue
				}
				if last := tt.moments[i+1].at; !d.Timers[tt.wantTimer].Equal(start.Add(time.Duration(last) * time.Second)) {
					t.Errorf("timers %v, want %s at %d s", d.Timers, tt.wantTimer, last)
				}
			}
		})
	}
}

func TestHeldSaysWhy(t *testing.T) {
	t.Parallel()
	h := tell(t, map[string]string{AnnotationWindow: "1m"})
	d := h.at(10, 72, 60)
	e := explanation(d, "b")
	if e.Reason != ExplainedHeld || !strings.Contains(e.Message, "kept until 2026-11-30T12:01:10Z by the stabilisation window of 1m0s") {
		t.Errorf("b is %s: %s", e.Reason, e.Message)
	}
	if e := explanation(d, "a"); e.Message != "12 ahead of b, the last selected, which stays until 2026-11-30T12:01:10Z at least" {
		t.Errorf("a: %s", e.Message)
	}
	if d.Cause != CauseMoveHeld {
		t.Errorf("cause %s: %s", d.Cause, d.Message)
	}
	if d := h.at(20, 50, 60); d.Cause != CauseScoreChanged || d.Flap != nil {
		t.Errorf("cause %s: %s, remembers %+v", d.Cause, d.Message, d.Flap)
	}
	h.at(30, 72, 60)
	if d := h.decideAt(90); d.Message != "a (72) overtook b (60), which was behind since 2026-11-30T12:00:30Z" {
		t.Errorf("message %q", d.Message)
	}
}

func TestFactsActAtOnce(t *testing.T) {
	t.Parallel()
	all := map[string]string{
		AnnotationDeadBand: "100", AnnotationWindow: "1h", AnnotationCooldown: "1h", AnnotationDwell: "1h", AnnotationBudget: "1/1h",
	}
	tests := map[string]struct {
		policy    string
		then      func(h *tale)
		wantCause string
	}{
		"taint":    {StaleHold, func(h *tale) { h.cluster("b", taintedWith("gone", "", "NoSelect")) }, CauseTaintChanged},
		"deletion": {StaleHold, func(h *tale) { h.cluster("b", deleting) }, CauseClusterRemoved},
		"set":      {StaleHold, func(h *tale) { h.cluster("b", inSet("other")) }, CauseSetsChanged},
		"score":    {StaleExclude, func(h *tale) { h.noScore("b", "gpu") }, CauseScoreExpired},
		"worst":    {StaleWorst, func(h *tale) { h.noScore("b", "gpu") }, CauseScoreExpired},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			annotations := map[string]string{AnnotationStalePolicy: tt.policy}
			for k, v := range all {
				annotations[k] = v
			}
			h := tell(t, annotations)
			h.now = h.now.Add(time.Second)
			tt.then(h)
			d := h.decideAt(1)
			if d.Clusters[0].Name != "a" || d.Cause != tt.wantCause || !strings.Contains(d.Message, "b is out at once, as a fact") {
				t.Errorf("selected %v because of %s: %s", d.Clusters, d.Cause, d.Message)
			}
		})
	}
}

func TestNoScoresAtAllMoveNothing(t *testing.T) {
	t.Parallel()
	h := tell(t, map[string]string{AnnotationStalePolicy: StaleWorst, AnnotationWindow: "1m"})
	h.noScore("a", "gpu")
	h.noScore("b", "gpu")
	if d := h.decideAt(1); d.Clusters[0].Name != "b" {
		t.Errorf("selected %v: nobody has a score, so nobody is better", d.Clusters)
	}
}

func TestGraceOfOtherPolicies(t *testing.T) {
	t.Parallel()
	for policy, then := range map[string]string{StaleHold: "a", StaleExclude: "a", StaleWorst: "a"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			h := tell(t, map[string]string{AnnotationStalePolicy: policy, AnnotationStaleGrace: "20s"})
			h.noScore("b", "gpu")
			if d := h.decideAt(1); d.Clusters[0].Name != "b" || explanation(d, "b").Reason != ExplainedHeld {
				t.Errorf("selected %v in the grace", d.Clusters)
			}
			if d := h.decideAt(21); d.Clusters[0].Name != then {
				t.Errorf("selected %v after the grace, want %s", d.Clusters, then)
			}
		})
	}
}

// TestWrongSettingsMoveNothing: the last good decision stays, but for facts.
func TestWrongSettingsMoveNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"dead band":      {map[string]string{AnnotationDeadBand: "-1"}, `annotation spokewire.dev/dead-band is "-1": write a whole number`},
		"window":         {map[string]string{AnnotationWindow: "5"}, `annotation spokewire.dev/stabilisation-window is "5": write a duration`},
		"too long":       {map[string]string{AnnotationDwell: "200h"}, `annotation spokewire.dev/minimum-dwell is "200h": write a duration from 0s to 168h`},
		"budget of none": {map[string]string{AnnotationBudget: "0/1m"}, `annotation spokewire.dev/change-budget is "0/1m": write off, or moves per interval such as 2/10m`},
		"budget":         {map[string]string{AnnotationBudget: "3"}, `annotation spokewire.dev/change-budget is "3"`},
		"stale policy":   {map[string]string{AnnotationStalePolicy: "never"}, `annotation spokewire.dev/stale-policy is "never": write hold, exclude, worst or zero`},
		"contradiction":  {map[string]string{AnnotationDeadBand: "20", AnnotationDecisiveLead: "20"}, "spokewire.dev/decisive-lead (or decisiveLead of the PlacementPolicy) is 20 and spokewire.dev/dead-band (or deadBand) is 20"},
		"two":            {map[string]string{AnnotationCooldown: "x", AnnotationDwell: "y"}, `annotation spokewire.dev/minimum-dwell is "y"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := tell(t, nil)
			h.placement = place(t, onGPU(1), func(p *schemas.Placement) { p.Annotations = tt.annotations })
			d := h.at(10, 100, 0)
			if c := d.Conditions[1]; c.Status != conditionTrue || !strings.Contains(c.Message, tt.want) {
				t.Errorf("condition %s: %s", c.Status, c.Message)
			}
			if d.Clusters[0].Name != "b" {
				t.Errorf("selected %v", d.Clusters)
			}
			h.cluster("b", deleting)
			if d := h.decideAt(20); d.Clusters[0].Name != "a" {
				t.Errorf("selected %v after a fact", d.Clusters)
			}
		})
	}
}

func TestFleetPolicy(t *testing.T) {
	t.Parallel()
	window := schemas.Duration(time.Minute)
	for name, tt := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"holds":                     {nil, "b"},
		"overridden":                {map[string]string{AnnotationWindow: "0s"}, "a"},
		"contradicts an annotation": {map[string]string{AnnotationDeadBand: "40", AnnotationWindow: "0s"}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decisive := int64(30)
			h := tell(t, tt.annotations)
			r := NewRanking(h.placement, h.fleet, h.last)
			r.Refresh(h.now)
			h.fleet.SetPolicy(&schemas.PlacementPolicySpec{StabilisationWindow: &window, DecisiveLead: &decisive})
			h.score("a", "gpu", 70, time.Hour)
			r.Refresh(h.now)
			if d := r.Decision(); d.Clusters[0].Name != tt.want {
				t.Errorf("selected %v, want %s", d.Clusters, tt.want)
			}
			h.fleet.SetPolicy(nil)
			r.Refresh(h.now)
			if wrong := r.Decision().Conditions[1].Status; wrong != conditionFalse {
				t.Error("still misconfigured without the fleet's policy")
			}
		})
	}
}

// TestFlapMemoryIsBounded: 9,000 of 10,000 clusters are selected, and half of
// them fall behind at once, again and again.
func TestFlapMemoryIsBounded(t *testing.T) {
	t.Parallel()
	f := largest(t)
	spec := clusterv1beta1.PlacementSpec{NumberOfClusters: number(9000), PrioritizerPolicy: exact(addOnOf("gpu", 10))}
	p := place(t, spec, func(p *schemas.Placement) {
		p.Annotations = map[string]string{AnnotationWindow: "1m", AnnotationDwell: "10m", AnnotationBudget: "100000/1h"}
	})
	var prior *Prior
	for round := range 6 {
		now := start.Add(time.Duration(round) * 90 * time.Second)
		d := Decide(Input{Placement: p, Fleet: f, Prior: prior}, now)
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(&d)
		if err != nil || len(body) > 512<<10 {
			t.Fatalf("round %d: %d bytes, %v", round, len(body), err)
		}
		if round > 0 && d.Flap.Others == nil {
			t.Errorf("round %d: nobody shares a time: %d cohorts", round, len(d.Flap.Selected))
		}
		prior = after(d)
		for i := range 10_000 {
			setGPU(f, fmt.Sprintf("spoke-%05d", i), int32((i+round*97)%201-100))
		}
	}
}

// TestBudgetOfOneDecision: of three that are behind at once, the two worst go,
// and the third a minute later.
func TestBudgetOfOneDecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, name := range []string{"a", "b", "c", "x", "y", "z"} {
		w.cluster(name)
		w.score(name, "gpu", int32(60-10*i), time.Hour)
	}
	p := place(t, onGPU(3), annotated(AnnotationBudget, "2/1m"))
	last := w.decide(p, nil)
	for i, name := range []string{"x", "y", "z"} {
		w.score(name, "gpu", int32(90+i), time.Hour)
	}
	for _, tt := range []struct {
		after time.Duration
		want  []string
	}{{0, []string{"z", "y", "a"}}, {time.Minute - 1, []string{"z", "y", "a"}}, {time.Minute, []string{"z", "y", "x"}}} {
		w.now = start.Add(tt.after)
		d := w.decide(p, after(last))
		if got := SelectedNames(&d); !slices.Equal(got, tt.want) {
			t.Errorf("after %s: selected %v, want %v", tt.after, got, tt.want)
		}
		if due := d.Timers["ChangeBudget"]; tt.after == 0 && !due.Equal(start.Add(time.Minute)) {
			t.Errorf("timers %v, want the budget's after a minute", d.Timers)
		}
		last = d
	}
}
