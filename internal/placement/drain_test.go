package placement

import (
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func (w *world) cordon(cluster, state string, changes ...func(*schemas.CordonSpec)) {
	c := schemas.CordonSpec{State: state}
	for _, change := range changes {
		change(&c)
	}
	w.fleet.SetCordon(cluster, &c)
}

func until(t time.Time) func(*schemas.CordonSpec) {
	return func(c *schemas.CordonSpec) { c.Until = &t }
}

// ranked is a world in which the clusters have the scores 50, 40, 30 ... in
// their order.
func ranked(t *testing.T, names ...string) *world {
	w := newWorld(t)
	for i, name := range names {
		w.cluster(name)
		w.score(name, "gpu", int32(50-10*i), time.Hour)
	}
	return w
}

func byGPU(n int32) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{NumberOfClusters: number(n), PrioritizerPolicy: exact(addOnOf("gpu", 1))}
}

func TestCordonedTakesNothingNewAndKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	w := ranked(t, "a", "b")
	p := place(t, byGPU(1))
	w.cordon("a", schemas.CordonCordoned, until(start.Add(time.Minute)), func(c *schemas.CordonSpec) { c.By, c.Reason = "kim", "upgrade" })
	d := w.decide(p, selecting("a"))
	if got := SelectedNames(&d); !slices.Equal(got, []string{"a"}) {
		t.Errorf("selected before: %v, want it kept", got)
	}
	d = w.decide(p, nil)
	if got := SelectedNames(&d); !slices.Equal(got, []string{"b"}) || d.Rejected["Cordoned"] != 1 {
		t.Errorf("not selected before: %v, rejected %v", got, d.Rejected)
	}
	e := explanation(d, "a")
	if want := "the cluster is cordoned by kim until 2026-11-30T12:01:00Z (upgrade)"; e.Reason != "Cordoned" || e.Message != want {
		t.Errorf("explained as %s: %s", e.Reason, e.Message)
	}
	if got := d.Timers["Cordon"]; !got.Equal(start.Add(time.Minute)) {
		t.Errorf("the timer is %v", got)
	}
	w.now = start.Add(time.Minute)
	d = w.decide(p, after(d))
	if got := SelectedNames(&d); !slices.Equal(got, []string{"a"}) {
		t.Errorf("after its end: %v", got)
	}
	w.cordon("a", schemas.CordonCordoned)
	w.cordon("a", schemas.CordonLifted)
	if d = w.decide(p, nil); SelectedNames(&d)[0] != "a" {
		t.Errorf("lifted: %v", SelectedNames(&d))
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	soon := map[string]string{AnnotationCooldown: "1m"}
	budget := map[string]string{AnnotationBudget: "1/10m"}
	tests := map[string]struct {
		n           int32 // 0: all
		annotations map[string]string
		drain       []string
		force       bool
		prior       []string
		moved       bool // a move before the decision
		want        []string
		wantHeld    string // who, and a part of the message
	}{
		"another takes its place at once":        {n: 1, drain: []string{"a"}, prior: []string{"a"}, want: []string{"b"}},
		"none is there":                          {n: 4, drain: []string{"a"}, prior: []string{"a", "b", "c", "d"}, want: []string{"a", "b", "c", "d"}, wantHeld: "a: being drained; stays until another"},
		"none is there, forced":                  {n: 4, drain: []string{"a"}, force: true, prior: []string{"a", "b", "c", "d"}, want: []string{"b", "c", "d"}},
		"as many as there are others":            {n: 3, drain: []string{"a", "b"}, prior: []string{"a", "b", "c"}, want: []string{"a", "c", "d"}, wantHeld: "a: being drained; stays until another"},
		"all are wanted, so it just goes":        {drain: []string{"a"}, prior: []string{"a", "b", "c", "d"}, want: []string{"b", "c", "d"}},
		"all are wanted and drained":             {drain: []string{"a", "b", "c", "d"}, prior: []string{"a", "b", "c", "d"}, want: []string{"a"}, wantHeld: "a: being drained; stays until another"},
		"all are wanted and drained, forced":     {drain: []string{"a", "b", "c", "d"}, force: true, prior: []string{"a", "b", "c", "d"}, want: []string{}},
		"fewer are there than wanted":            {n: 9, drain: []string{"a"}, prior: []string{"a", "b", "c", "d"}, want: []string{"a", "b", "c", "d"}, wantHeld: "a: being drained; stays until another"},
		"within the budget, the worst first":     {n: 2, annotations: budget, drain: []string{"a", "b"}, prior: []string{"a", "b"}, want: []string{"a", "c"}, wantHeld: "a: being drained; kept until 2026-11-30T12:10:00Z by the change budget of 1"},
		"forced, within the budget":              {n: 4, annotations: budget, drain: []string{"a", "b"}, force: true, prior: []string{"a", "b", "c", "d"}, want: []string{"a", "c", "d"}, wantHeld: "a: being drained; kept until"},
		"not during the cooldown":                {n: 1, annotations: soon, moved: true, drain: []string{"a"}, prior: []string{"a"}, want: []string{"a"}, wantHeld: "a: being drained; kept until 2026-11-30T12:01:00Z by the cooldown"},
		"whatever the dead band says":            {n: 1, annotations: map[string]string{AnnotationDeadBand: "500", AnnotationWindow: "5m", AnnotationDwell: "5m"}, drain: []string{"a"}, prior: []string{"a"}, want: []string{"b"}},
		"not while the settings are wrong":       {n: 1, annotations: map[string]string{AnnotationDeadBand: "x"}, drain: []string{"a"}, prior: []string{"a"}, want: []string{"a"}, wantHeld: "a: selected before; nothing moves"},
		"fewer are wanted: it is the one to go":  {n: 1, annotations: budget, moved: true, drain: []string{"a"}, prior: []string{"a", "b"}, want: []string{"b"}},
		"spread: none other fits":                {n: 2, annotations: map[string]string{"spread": "zone"}, drain: []string{"d"}, prior: []string{"a", "d"}, want: []string{"a", "d"}, wantHeld: "d: being drained; stays until another"},
		"spread: another fits":                   {n: 2, annotations: map[string]string{"spread": "zone"}, drain: []string{"a"}, prior: []string{"a", "d"}, want: []string{"b", "d"}},
		"spread: it would be picked, but drains": {n: 1, annotations: map[string]string{"spread": "zone"}, drain: []string{"a"}, prior: []string{"a"}, want: []string{"b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ranked(t, "a", "b", "c", "d")
			spec := byGPU(tc.n)
			if tc.n == 0 {
				spec.NumberOfClusters = nil
			}
			if tc.annotations["spread"] != "" {
				spreadByZone(w, &spec)
			}
			p := place(t, spec, func(p *schemas.Placement) {
				p.Annotations = map[string]string{}
				for key, value := range tc.annotations {
					if key != "spread" {
						p.Annotations[key] = value
					}
				}
			})
			for _, name := range tc.drain {
				w.cordon(name, schemas.CordonDraining, func(c *schemas.CordonSpec) { c.Force = tc.force })
			}
			prior := selecting(tc.prior...)
			if tc.moved {
				prior.Decision.Flap = &schemas.Flap{Moves: []schemas.Moves{{At: start, Count: 1}}}
			}
			d := w.decide(p, prior)
			if got := SelectedNames(&d); !slices.Equal(got, tc.want) {
				t.Fatalf("selected %v, want %v", got, tc.want)
			}
			if tc.wantHeld == "" {
				return
			}
			cluster, words, _ := strings.Cut(tc.wantHeld, ": ")
			if e := explanation(d, cluster); e.Reason != ExplainedHeld || !strings.Contains(e.Message, words) {
				t.Errorf("%s is %s: %s, want Held: %s", cluster, e.Reason, e.Message, words)
			}
		})
	}
}

// spreadByZone puts d alone into one zone, and the others into another.
func spreadByZone(w *world, spec *clusterv1beta1.PlacementSpec) {
	for _, name := range []string{"a", "b", "c"} {
		w.cluster(name, labelled("zone", "x"))
	}
	w.cluster("d", labelled("zone", "y"))
	spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
		TopologyKey: "zone", TopologyKeyType: "Label", MaxSkew: 1, WhenUnsatisfiable: clusterv1beta1.DoNotSchedule,
	}}
}

func TestDrainSaysWhy(t *testing.T) {
	t.Parallel()
	w := ranked(t, "a", "b", "c", "d")
	p := place(t, byGPU(2), annotated(AnnotationBudget, "1/10m"))
	w.cordon("a", schemas.CordonDraining, func(c *schemas.CordonSpec) { c.By = "kim" })
	w.cordon("b", schemas.CordonDraining)
	d := w.decide(p, selecting("a", "b"))
	if d.Cause != CauseCordonChanged || d.Message != "b is out: the cluster is being drained; in: c (30); out: b" {
		t.Errorf("cause %s: %s", d.Cause, d.Message)
	}
	if got := d.Timers["ChangeBudget"]; !got.Equal(start.Add(10 * time.Minute)) {
		t.Errorf("the next may go at %v", got)
	}
	if again := w.decide(p, after(d)); Changed(&d, &again) == Material {
		t.Errorf("without an event it would be decided anew: %s: %s", again.Cause, again.Message)
	}
	w.now = start.Add(10 * time.Minute)
	d = w.decide(p, after(d))
	if got := SelectedNames(&d); !slices.Equal(got, []string{"c", "d"}) {
		t.Errorf("then %v are selected", got)
	}
	if d.Message != "a is out: the cluster is being drained by kim; in: d (20); out: a" {
		t.Errorf("it says: %s", d.Message)
	}
}

// An unforced drain never leaves fewer clusters than a cordon would, of a
// Placement that wants a number; one that wants all keeps one at least.
func TestDrainLeavesAsManyClusters(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(3000) {
		h := newHistory(t, seed)
		for range 150 {
			h.step()
		}
		spec := h.randomSpec()
		h.spreading(&spec)
		p := place(t, spec, h.variant)
		first := h.decide(p, nil)
		for _, name := range SelectedNames(&first) {
			if h.rng.IntN(2) == 0 {
				h.fleet.SetCordon(name, &schemas.CordonSpec{State: schemas.CordonCordoned})
			}
		}
		kept := h.decide(p, after(first))
		for id, c := range h.fleet.cordons {
			c.spec.State, c.spec.Force = schemas.CordonDraining, false
			h.fleet.SetCordon(h.fleet.names[id], &c.spec)
		}
		d := h.decide(p, after(first))
		least := len(kept.Clusters)
		if spec.NumberOfClusters == nil {
			least = min(1, least)
		}
		if len(d.Clusters) < least {
			t.Errorf("seed %d: %d clusters are left, want %d (%v by %+v)", seed, len(d.Clusters), least, SelectedNames(&d), spec.SpreadPolicy)
		}
		moved += len(d.Removed)
	}
	if moved < 100 {
		t.Errorf("%d moved: the test is blunt", moved)
	}
}
