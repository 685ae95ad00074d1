package placement

import (
	"cmp"
	"slices"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// settings are what the oracle knows of flap control.
type settings struct {
	band, decisive                    int64
	window, cooldown, dwell, interval time.Duration
	budget                            int
	// gone leave in this decision by a drain, waiting would.
	gone, waiting []string
}

// held selects n of ranked, by flap control, one swap at a time.
func (s *settings) held(ranked []string, totals map[string]int64, late map[string]bool, n int, prior *schemas.PlacementDecision, now time.Time) []string {
	var holders, others []string
	before := SelectedNames(prior)
	freshRival := slices.ContainsFunc(ranked, func(name string) bool { return !late[name] && !slices.Contains(before, name) })
	for _, name := range ranked {
		if slices.Contains(before, name) && (!late[name] || !freshRival) {
			holders = append(holders, name)
		} else {
			others = append(others, name)
		}
	}
	holders = holders[:min(n, len(holders))]
	for _, name := range ranked {
		if !slices.Contains(holders, name) && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	slices.SortStableFunc(others, func(a, b string) int {
		return cmp.Compare(slices.Index(ranked, a), slices.Index(ranked, b))
	})
	selected := slices.Clone(holders)
	for len(selected) < n {
		selected, others = append(selected, others[0]), others[1:]
	}
	out := s.mayGo(holders, others, totals, prior, now)
	selected = slices.DeleteFunc(selected, func(name string) bool { return slices.Contains(out, name) })
	selected = append(selected, others[:len(out)]...)
	slices.SortFunc(selected, func(a, b string) int { return cmp.Compare(slices.Index(ranked, a), slices.Index(ranked, b)) })
	return selected
}

func (s *settings) mayGo(holders, others []string, totals map[string]int64, prior *schemas.PlacementDecision, now time.Time) (out []string) {
	flap := prior.Flap
	if flap == nil {
		flap = &schemas.Flap{}
	}
	for i := 0; i < min(len(holders), len(others)); i++ {
		name := holders[len(holders)-1-i]
		lead := totals[others[i]] - totals[name]
		if lead <= s.band {
			break
		}
		if slices.Contains(s.waiting, name) {
			continue
		}
		ready := s.budgetAllows(flap.Moves, len(s.gone)+len(out), now)
		if s.decisive == 0 || lead <= s.decisive {
			since, waiting := timeIn(flap.Behind, name)
			ready = ready && (s.window == 0 || waiting && !now.Before(since.Add(s.window)))
			at, recent := timeIn(flap.Selected, name)
			ready = ready && (!recent || !now.Before(at.Add(s.dwell)))
			if n := len(flap.Moves); n > 0 {
				ready = ready && !now.Before(flap.Moves[n-1].At.Add(s.cooldown))
			}
		}
		if ready {
			out = append(out, name)
		}
	}
	return out
}

// leave divides those who are being drained and have a replacement into those
// who go and those who wait for the budget or the cooldown. Where fewer are
// wanted than there are, so many go in any case.
func (s *settings) leave(leaving, ranked []string, n int, prior *schemas.PlacementDecision, now time.Time) {
	s.gone, s.waiting = nil, nil
	surplus := -min(n, len(ranked))
	for _, name := range SelectedNames(prior) {
		if slices.Contains(ranked, name) {
			surplus++
		}
	}
	var moves []schemas.Moves
	if prior.Flap != nil {
		moves = prior.Flap.Moves
	}
	for i, name := range leaving {
		ready := s.budgetAllows(moves, len(s.gone), now) && (len(moves) == 0 || !now.Before(moves[len(moves)-1].At.Add(s.cooldown)))
		if ready || i < surplus {
			s.gone = append(s.gone, name)
		} else {
			s.waiting = append(s.waiting, name)
		}
	}
}

func (s *settings) budgetAllows(moves []schemas.Moves, more int, now time.Time) bool {
	for _, m := range moves {
		if m.At.After(now.Add(-s.interval)) {
			more += m.Count
		}
	}
	return s.budget == 0 || more < s.budget
}

func timeIn(cohorts []schemas.Cohort, name string) (time.Time, bool) {
	for _, c := range cohorts {
		if slices.Contains(c.Clusters, name) {
			return c.At, true
		}
	}
	return time.Time{}, false
}

// late are the clusters that lack a score which the spec counts.
func (o *oracle) late(spec clusterv1beta1.PlacementSpec, now time.Time) map[string]bool {
	out := map[string]bool{}
	for name := range o.clusters {
		for _, c := range spec.PrioritizerPolicy.Configurations {
			if c.ScoreCoordinate.AddOn == nil || c.Weight == 0 {
				continue
			}
			s, known := o.scores[[2]string{name, c.ScoreCoordinate.AddOn.ResourceName}]
			out[name] = out[name] || !known || now.After(s.until)
		}
	}
	return out
}

func (h *history) randomSettings() (settings, func(*schemas.Placement)) {
	s := settings{
		band: pick[int64](h.rng, 0, 20), decisive: pick[int64](h.rng, 0, 0, 90),
		window: pick(h.rng, 0, 30*time.Second), cooldown: pick(h.rng, 0, 0, 20*time.Second), dwell: pick(h.rng, 0, 0, 40*time.Second),
		budget: pick(h.rng, 0, 1, 2), interval: 45 * time.Second,
	}
	budget := map[int]string{0: "off", 1: "1/45s", 2: "2/45s"}[s.budget]
	return s, func(p *schemas.Placement) {
		p.Annotations = map[string]string{
			AnnotationStalePolicy: StaleZero, AnnotationBudget: budget,
			AnnotationDeadBand: map[int64]string{0: "0", 20: "20"}[s.band], AnnotationDecisiveLead: map[int64]string{0: "0", 90: "90"}[s.decisive],
			AnnotationWindow: s.window.String(), AnnotationCooldown: s.cooldown.String(), AnnotationDwell: s.dwell.String(),
		}
	}
}

// TestFlapControlEqualsTheOracle goes through histories, each decision with
// what the one before it remembered.
func TestFlapControlEqualsTheOracle(t *testing.T) {
	t.Parallel()
	var moved, kept, drained, waited int
	for seed := range uint64(300) {
		h := newHistory(t, seed)
		for range 100 {
			h.step()
		}
		s, annotate := h.randomSettings()
		spec := h.randomSpec()
		spec.NumberOfClusters = number(int32(1 + h.rng.IntN(4)))
		p := place(t, spec, annotate)
		if !(&policy{deadBand: s.band, window: s.window, cooldown: s.cooldown, dwell: s.dwell, budget: s.budget}).controls() {
			continue
		}
		d := h.decide(p, nil)
		for range 120 {
			h.step()
			if names := SelectedNames(&d); len(names) > 0 && h.rng.IntN(8) == 0 {
				h.cordon(pick(h.rng, names...))
			}
			// Balance aside, the oracle ranks every cluster.
			every := p.Spec
			every.NumberOfClusters = nil
			ranked, totals := h.oracle.rank(every, p.Key(), SelectedNames(&d), nil, h.now)
			s.leave(h.oracle.leaving(p.Spec, ranked, SelectedNames(&d), h.now), ranked, int(*spec.NumberOfClusters), &d, h.now)
			if len(s.gone) > 0 {
				ranked, totals = h.oracle.rank(every, p.Key(), SelectedNames(&d), s.gone, h.now)
			}
			drained, waited = drained+len(s.gone), waited+len(s.waiting)
			n := min(int(*spec.NumberOfClusters), len(ranked))
			want := s.held(ranked, totals, h.oracle.late(every, h.now), n, &d, h.now)
			next := h.decide(p, after(d))
			if got := SelectedNames(&next); !slices.Equal(got, want) {
				t.Fatalf("seed %d: selected %v, want %v, after %v of %+v with %v by %+v", seed, got, want, SelectedNames(&d), d.Flap, totals, s)
			}
			moved += len(next.Removed)
			if !slices.Equal(want, ranked[:n]) {
				kept++
			}
			if Changed(&d, &next) == Material {
				d = next
			}
		}
	}
	if moved < 300 || kept < 300 || drained < 100 || waited < 100 {
		t.Errorf("%d moves, %d decisions held back, %d drained, %d times one waited for that: the test is blunt", moved, kept, drained, waited)
	}
}

// spread picks as the constraints say, looking at every cluster for every
// place.
func (o *oracle) spread(terms []clusterv1beta1.SpreadConstraintsTerm, ranked []string, n int) []string {
	var chosen []string
	for len(chosen) < n {
		best, least := "", []bool(nil)
		for _, name := range ranked {
			if slices.Contains(chosen, name) {
				continue
			}
			violated, allowed := o.violated(terms, ranked, chosen, name)
			if allowed && (best == "" || slices.CompareFunc(violated, least, compareBools) < 0) {
				best, least = name, violated
			}
		}
		if best == "" {
			break
		}
		chosen = append(chosen, best)
	}
	slices.SortFunc(chosen, func(a, b string) int { return cmp.Compare(slices.Index(ranked, a), slices.Index(ranked, b)) })
	return chosen
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (o *oracle) violated(terms []clusterv1beta1.SpreadConstraintsTerm, ranked, chosen []string, name string) (out []bool, allowed bool) {
	allowed = true
	for _, t := range terms {
		value := func(name string) (string, bool) {
			from := o.clusters[name].Labels
			if t.TopologyKeyType == clusterv1beta1.TopologyKeyTypeClaim {
				from = o.clusters[name].Claims
			}
			v, has := from[t.TopologyKey]
			return v, has
		}
		counts := map[string]int{}
		for _, other := range ranked {
			if v, has := value(other); has {
				counts[v] += 0
			}
		}
		for _, other := range chosen {
			if v, has := value(other); has {
				counts[v]++
			}
		}
		least := 1 << 30
		for _, n := range counts {
			least = min(least, n)
		}
		own, has := value(name)
		violates := !has || counts[own]+1-least > int(t.MaxSkew)
		out = append(out, violates)
		allowed = allowed && (!violates || t.WhenUnsatisfiable == clusterv1beta1.ScheduleAnyway)
	}
	return out, allowed
}

func TestSpreadEqualsTheOracle(t *testing.T) {
	t.Parallel()
	differs := 0
	for seed := range uint64(800) {
		h := newHistory(t, seed)
		for range 120 {
			h.step()
		}
		spec := h.randomSpec()
		for len(spec.SpreadPolicy.SpreadConstraints) == 0 {
			h.spreading(&spec)
		}
		p := place(t, spec, annotated(AnnotationStalePolicy, StaleZero))
		d := h.decide(p, nil)
		every := p.Spec
		every.NumberOfClusters = nil
		ranked, _ := h.oracle.rank(every, p.Key(), nil, nil, h.now)
		n := len(ranked)
		if spec.NumberOfClusters != nil {
			n = min(n, int(*spec.NumberOfClusters))
		}
		want := h.oracle.spread(spec.SpreadPolicy.SpreadConstraints, ranked, n)
		if got := SelectedNames(&d); !slices.Equal(got, want) {
			t.Fatalf("seed %d: selected %v, want %v of %v by %+v", seed, got, want, ranked, spec.SpreadPolicy)
		}
		if !slices.Equal(want, ranked[:n]) {
			differs++
		}
	}
	if differs < 50 {
		t.Errorf("the constraints mattered %d times only: the test is blunt", differs)
	}
}
