package placement

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestDecideEqualsTheOracle(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(400) {
		h := newHistory(t, seed)
		for range 150 {
			h.step()
		}
		for range 5 {
			spec, prior := h.randomSpec(), h.randomPrior()
			p := place(t, h.inCEL(spec), annotated(AnnotationStalePolicy, StaleZero))
			var before []string
			if prior != nil {
				before = SelectedNames(prior.Decision)
				h.cordon(pick(h.rng, append(before, h.name())...))
			}
			d := h.decide(p, prior)
			want, totals := h.oracle.decide(spec, p.Key(), before, h.now)
			if got := SelectedNames(&d); !slices.Equal(got, want) {
				t.Fatalf("seed %d: selected %v, want %v", seed, got, want)
			}
			for _, c := range d.Clusters {
				if c.Score != totals[c.Name] {
					t.Fatalf("seed %d: %s has %d, want %d", seed, c.Name, c.Score, totals[c.Name])
				}
			}
			if len(want) > 1 {
				moved++
			}
		}
	}
	if moved < 200 {
		t.Errorf("only %d of 2000 decisions selected more than one cluster: the test is blunt", moved)
	}
}

func TestRankingEqualsDecide(t *testing.T) {
	t.Parallel()
	var seen [3]int
	for seed := range uint64(200) {
		h := newHistory(t, seed)
		h.rebalances = true
		spec := h.randomSpec()
		h.groups(&spec)
		h.expressions(&spec)
		h.spreading(&spec)
		p, prior := place(t, spec, h.variant), h.randomPrior()
		r := NewRanking(p, h.fleet, prior)
		for step := range 120 {
			h.step()
			if h.rng.IntN(3) == 0 {
				continue // several changes at once
			}
			r.Refresh(h.now)
			want := h.decide(p, prior)
			got := r.Decision()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, step %d: the ranking differs from Decide (-want +got):\n%s", seed, step, diff)
			}
			difference := r.Difference()
			seen[difference]++
			if prior != nil && difference != Changed(prior.Decision, &want) {
				t.Fatalf("seed %d, step %d: Difference says %d, Changed %d", seed, step, difference, Changed(prior.Decision, &want))
			}
			if difference == Material || difference == ScoresOnly && h.rng.IntN(2) == 0 {
				prior = &Prior{Decision: &got, Sequence: uint64(step)}
				h.fleet.SetDecision(p.Key(), SelectedNames(&got))
				h.oracle.decisions[p.Key()] = SelectedNames(&got)
				r.SetPrior(prior)
			}
		}
	}
	for difference, n := range seen {
		if n < 100 {
			t.Errorf("difference %d came %d times only: the test is blunt", difference, n)
		}
	}
}

func TestRefreshIsNeededWhenItSays(t *testing.T) {
	t.Parallel()
	settled := 0
	for seed := range uint64(200) {
		h := newHistory(t, seed)
		h.rebalances = true
		for range 150 {
			h.step()
		}
		spec := h.randomSpec()
		h.expressions(&spec)
		h.spreading(&spec)
		p := place(t, spec, h.variant)
		r := NewRanking(p, h.fleet, h.randomPrior())
		next := r.Refresh(h.now)
		// It is from its publication on that flap control remembers.
		for range 5 {
			if r.Difference() != Material {
				break
			}
			r.SetPrior(after(r.Decision()))
			next = r.Refresh(h.now)
		}
		if r.Difference() == Material {
			continue // a negative weight of Steady, for instance
		}
		settled++
		before := r.Decision()
		if next.IsZero() {
			next = h.now.Add(24 * time.Hour)
		}
		if !next.After(h.now) {
			t.Fatalf("seed %d: next %v is not after now %v", seed, next, h.now)
		}
		r.Refresh(next.Add(-1))
		later := r.Decision()
		before.Now, later.Now = time.Time{}, time.Time{}
		forgetOld(&before, &later)
		if diff := cmp.Diff(before, later); diff != "" {
			t.Fatalf("seed %d: something changed before %v:\n%s", seed, next, diff)
		}
		r.Refresh(next)
		if diff := cmp.Diff(Decide(Input{Placement: p, Fleet: h.fleet, Prior: r.prior}, next), r.Decision()); diff != "" {
			t.Fatalf("seed %d: at %v the ranking differs from Decide (-want +got):\n%s", seed, next, diff)
		}
	}
	if settled < 150 {
		t.Errorf("only %d of 200 came to rest: the test is blunt", settled)
	}
}

// forgetOld drops what a decision still remembers though it does not matter
// any more.
func forgetOld(all ...*schemas.PlacementDecision) {
	for _, d := range all {
		if d.Flap != nil {
			d.Flap.Selected, d.Flap.Moves = nil, nil
		}
		if d.Flap != nil && d.Flap.Behind == nil {
			d.Flap = nil
		}
	}
}

func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		h := newHistory(t, seed)
		h.rebalances = true
		for range 200 {
			h.step()
		}
		spec := h.randomSpec()
		h.expressions(&spec)
		p, prior := place(t, spec, h.variant), h.randomPrior()
		want := h.decide(p, prior)
		other := &world{t: t, fleet: h.shuffled(), now: h.now}
		got := other.decide(p, prior)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: another order of arrival (-want +got):\n%s", seed, diff)
		}
	}
}

func TestSelectionKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		h := newHistory(t, seed)
		h.rebalances = true
		for range 150 {
			h.step()
		}
		spec := h.randomSpec()
		p := place(t, spec, h.variant)
		prior := h.randomPrior()
		d := h.decide(p, prior)
		if d.Conditions[0].Reason == ReasonNoIntersect {
			continue // the clusters of before stay
		}
		if n := spec.NumberOfClusters; n != nil && len(d.Clusters) > int(*n) {
			t.Fatalf("seed %d: %d selected, at most %d are wanted", seed, len(d.Clusters), *n)
		}
		for _, c := range d.Clusters {
			known := h.oracle.clusters[c.Name]
			if known == nil || !h.oracle.available(spec, known) || !h.oracle.matches(spec, known) {
				t.Fatalf("seed %d: %s is selected and not eligible", seed, c.Name)
			}
		}
		if !slices.IsSortedFunc(d.Clusters, func(a, b schemas.SelectedCluster) int { return int(b.Score - a.Score) }) {
			t.Fatalf("seed %d: not in rank order: %v", seed, d.Clusters)
		}
		if again := h.decide(p, prior); cmp.Diff(d, again) != "" {
			t.Fatalf("seed %d: the same input gave another decision", seed)
		}
	}
}

func TestRankingFarBehindLooksAtAll(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		h := newHistory(t, seed)
		h.rebalances = true
		p := place(t, h.randomSpec(), h.variant)
		r := NewRanking(p, h.fleet, nil)
		for range 3 {
			for range 3000 {
				h.step()
			}
			if _, known := h.fleet.facts.after(r.seen); known {
				t.Fatal("the fleet still knows every change: the test is blunt")
			}
			r.Refresh(h.now)
			if diff := cmp.Diff(h.decide(p, nil), r.Decision()); diff != "" {
				t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
			}
		}
	}
}
