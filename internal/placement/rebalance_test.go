package placement

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// rebalance asks for Placement default/p to be rebalanced, from now on.
func (w *world) rebalance(id string, validFor time.Duration) {
	d := schemas.Duration(validFor)
	w.fleet.SetRebalance(Key{"default", "p"}, &schemas.Rebalance{Spec: schemas.RebalanceSpec{ID: id, By: "kim", ValidFor: &d}}, w.now)
}

func (w *world) wantRebalanced(d *schemas.PlacementDecision, clusters []string, remaining int) {
	w.t.Helper()
	if got := SelectedNames(d); !slices.Equal(got, clusters) || d.Rebalance == nil || d.Rebalance.Remaining != remaining {
		w.t.Fatalf("selected %v and %+v, want %v and %d remaining", got, d.Rebalance, clusters, remaining)
	}
}

func TestRebalanceIsAsIfNothingWereSelected(t *testing.T) {
	t.Parallel()
	spec := byGPU(2)
	spec.PrioritizerPolicy.Configurations = append(spec.PrioritizerPolicy.Configurations, builtIn("Steady", 1))
	tests := map[string]func(*schemas.Placement){
		"bare":     func(*schemas.Placement) {},
		"band":     annotated(AnnotationDeadBand, "500"),
		"window":   annotated(AnnotationWindow, "1h"),
		"dwell":    annotated(AnnotationDwell, "1h"),
		"cooldown": annotated(AnnotationCooldown, "1h"),
	}
	for name, setting := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ranked(t, "a", "b", "c", "d")
			p := place(t, spec, setting)
			prior := selecting("c", "d")
			prior.Decision.Flap = &schemas.Flap{Moves: []schemas.Moves{{At: start, Count: 1}}, Selected: []schemas.Cohort{{At: start, Clusters: []string{"c", "d"}}}}
			if d := w.decide(p, prior); len(d.Added) > 0 {
				t.Fatalf("it moves without being asked: %v", d.Added)
			}
			w.rebalance("r1", time.Hour)
			d := w.decide(p, prior)
			w.wantRebalanced(&d, []string{"a", "b"}, 0)
			if d.Cause != CauseRebalance || d.Message != "rebalance r1, asked for by kim; in: a (50), b (40); out: c (30), d (20)" {
				t.Errorf("cause %s: %s", d.Cause, d.Message)
			}
			w.score("c", "gpu", 60, time.Hour)
			if next := w.decide(p, after(d)); len(next.Added) > 0 || next.Rebalance == nil || next.Rebalance.ID != "r1" {
				t.Errorf("it is honoured again: %v, %+v", next.Added, next.Rebalance)
			}
		})
	}
}

func TestRebalanceWithNothingToMoveSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b"} {
		w.cluster(name)
		w.score(name, "gpu", 10, time.Hour)
	}
	p := place(t, byGPU(1))
	prior := selecting("b") // a tie is no reason to move, not even here
	w.rebalance("r1", time.Hour)
	d := w.decide(p, prior)
	w.wantRebalanced(&d, []string{"b"}, 0)
	if d.Cause != CauseRebalance || d.Message != "rebalance r1, asked for by kim; nothing to move" {
		t.Errorf("cause %s: %s", d.Cause, d.Message)
	}
	if Changed(prior.Decision, &d) != Material {
		t.Error("nobody would be told")
	}
	w.now = w.now.Add(time.Hour)
	if later := w.decide(p, after(d)); later.Rebalance != nil || SelectedNames(&later)[0] != "b" && later.Cause == CauseRebalance {
		t.Errorf("after its end: %+v", later.Rebalance)
	}
}

func TestRebalanceGoesOnWithinTheBudget(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f"}
	w := ranked(t, names...)
	p := place(t, byGPU(3), annotated(AnnotationBudget, "2/10m"), annotated(AnnotationDeadBand, "500"))
	w.rebalance("r1", time.Hour)
	d := w.decide(p, selecting("d", "e", "f"))
	w.wantRebalanced(&d, []string{"a", "b", "d"}, 1)
	if !d.Timers["ChangeBudget"].Equal(start.Add(10*time.Minute)) || !d.Timers["Rebalance"].Equal(start.Add(time.Hour)) {
		t.Errorf("timers %v", d.Timers)
	}
	// What turns up meanwhile is no part of it: it moves one more.
	w.score("e", "gpu", 90, time.Hour)
	w.score("f", "gpu", 80, time.Hour)
	w.now = w.now.Add(10 * time.Minute)
	d = w.decide(p, after(d))
	w.wantRebalanced(&d, []string{"e", "a", "b"}, 0)
	w.now = w.now.Add(10 * time.Minute)
	if d = w.decide(p, after(d)); len(d.Added) > 0 {
		t.Errorf("it goes on: %v", d.Added)
	}
}

func TestRebalanceEnds(t *testing.T) {
	t.Parallel()
	w := ranked(t, "a", "b", "c", "d")
	p := place(t, byGPU(2), annotated(AnnotationBudget, "1/10m"), annotated(AnnotationDeadBand, "500"))
	w.rebalance("r1", time.Minute)
	d := w.decide(p, selecting("c", "d"))
	w.wantRebalanced(&d, []string{"a", "c"}, 1)
	w.now = w.now.Add(time.Minute)
	next := w.decide(p, after(d))
	if next.Rebalance != nil || len(next.Added) > 0 || Changed(&d, &next) != Material {
		t.Errorf("then %v move, %+v", next.Added, next.Rebalance)
	}
	if next.Cause != CauseRebalance || next.Message != "rebalance r1 ended, 1 cluster did not move" {
		t.Errorf("cause %s: %s", next.Cause, next.Message)
	}
	w.now = w.now.Add(9 * time.Minute)
	if last := w.decide(p, after(next)); len(last.Added) > 0 {
		t.Errorf("and later %v", last.Added)
	}
}

func TestRebalanceWaits(t *testing.T) {
	t.Parallel()
	t.Run("until wrong settings are mended", func(t *testing.T) {
		t.Parallel()
		w := ranked(t, "a", "b")
		w.rebalance("r1", time.Hour)
		d := w.decide(place(t, byGPU(1), annotated(AnnotationDeadBand, "x")), selecting("b"))
		if d.Rebalance != nil || len(d.Added) > 0 {
			t.Fatalf("%v move, %+v", d.Added, d.Rebalance)
		}
		d = w.decide(place(t, byGPU(1)), after(d))
		w.wantRebalanced(&d, []string{"a"}, 0)
	})
	t.Run("until a decision of OCM's is adopted", func(t *testing.T) {
		t.Parallel()
		w := ranked(t, "a", "b")
		p := place(t, byGPU(1), annotated(AnnotationDeadBand, "500"))
		w.rebalance("r1", time.Hour)
		prior := PriorOf(&schemas.ObservedDecision{
			Placement: schemas.PlacementRef{Namespace: "default", Name: "p", UID: "uid-p"}, Writer: SchedulerOCM,
			Clusters: []schemas.ObservedCluster{{Name: "b"}},
		})
		d := w.decide(p, prior)
		if d.Rebalance != nil || d.Cause != CauseAdopted || len(d.Added) > 0 {
			t.Fatalf("%s: %v move, %+v", d.Cause, d.Added, d.Rebalance)
		}
		r := NewRanking(p, w.fleet, after(d))
		if next := r.Refresh(w.now); !next.Equal(w.now) {
			t.Errorf("the next look is at %v, want now", next)
		}
		next := r.Decision()
		w.wantRebalanced(&next, []string{"a"}, 0)
	})
	t.Run("not at a first decision", func(t *testing.T) {
		t.Parallel()
		w := ranked(t, "a", "b")
		w.rebalance("r1", time.Hour)
		d := w.decide(place(t, byGPU(1)), nil)
		w.wantRebalanced(&d, []string{"a"}, 0)
		if d.Cause != CauseFirst {
			t.Errorf("cause %s", d.Cause)
		}
	})
}

// A cluster that is cordoned keeps what it has, also in a rebalance.
func TestRebalanceIsNoDrain(t *testing.T) {
	t.Parallel()
	w := ranked(t, "a", "b", "c")
	p := place(t, byGPU(2))
	w.cordon("a", schemas.CordonCordoned)
	w.rebalance("r1", time.Hour)
	d := w.decide(p, selecting("a", "c"))
	w.wantRebalanced(&d, []string{"a", "b"}, 0)
}

// Through random histories, a rebalance moves no more clusters than were out
// of place when it began, keeps the budget, and ends.
func TestRebalanceIsBounded(t *testing.T) {
	t.Parallel()
	honoured, several := 0, 0
	for seed := range uint64(150) {
		h := newHistory(t, seed)
		h.set("default")
		h.bind("default")
		shuffle := func() {
			for i := range clusterNames {
				h.score(fmt.Sprintf("c%02d", i), "gpu", int32(h.rng.IntN(201)-100), time.Hour)
			}
		}
		for i := range clusterNames {
			h.cluster(fmt.Sprintf("c%02d", i), labelled("tier", pick(h.rng, "a", "b")))
		}
		shuffle()
		spec := byGPU(int32(2 + h.rng.IntN(6)))
		h.spreading(&spec)
		budget := 1 + h.rng.IntN(2)
		p := place(t, spec, annotated(AnnotationBudget, fmt.Sprintf("%d/45s", budget)), annotated(AnnotationDeadBand, "1000"))
		d := h.decide(p, nil)
		shuffle()
		h.world.rebalance("r1", time.Hour)
		began, decisions := -1, 0
		for range 200 {
			next := h.decide(p, after(d))
			if next.Cause == CauseRebalance && next.Rebalance != nil {
				if began < 0 {
					began, honoured = next.Rebalance.Remaining+len(next.Removed), honoured+1
				}
				if began -= len(next.Removed); began < 0 || len(next.Removed) > budget {
					t.Fatalf("seed %d: it moves %d more clusters than were out of place", seed, -began)
				}
				decisions++
			}
			if Changed(&d, &next) == Material {
				d = next
			}
			h.now = h.now.Add(15 * time.Second)
			h.score(h.name(), "gpu", int32(h.rng.IntN(201)-100), time.Hour)
		}
		if decisions > 1 {
			several++
		}
		if d.Rebalance != nil && d.Rebalance.Remaining > 0 {
			t.Errorf("seed %d: %d clusters have not moved", seed, d.Rebalance.Remaining)
		}
	}
	if honoured < 100 || several < 30 {
		t.Errorf("%d honoured, %d of them in several decisions: the test is blunt", honoured, several)
	}
}
