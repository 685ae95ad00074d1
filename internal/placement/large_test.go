package placement

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// crowd is a fleet that is large enough for every way of looking only at a
// part of it.
type crowd struct {
	*history
	size, zones, racks int
	clusters           []*schemas.Cluster
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	c := &crowd{history: newHistory(t, seed)}
	c.size, c.zones, c.racks = 20+c.rng.IntN(400), 1+c.rng.IntN(5), 1+c.rng.IntN(40)
	c.set("red")
	c.bind("red")
	c.clusters = make([]*schemas.Cluster, c.size)
	for i := range c.size {
		c.locate(i)
		c.resize(i)
		c.rate(i)
	}
	return c
}

func (c *crowd) nameOf(i int) string { return fmt.Sprintf("spoke-%04d", i) }

// locate puts a cluster into a zone and a rack, or into none.
func (c *crowd) locate(i int) {
	labels := map[string]string{setLabel: pick(c.rng, "red", "red", "red", "red", "blue")}
	for key, values := range map[string]int{"zone": c.zones, "rack": c.racks} {
		if value := c.rng.IntN(values + 1); value > 0 {
			labels[key] = fmt.Sprint(value)
		}
	}
	c.clusters[i] = &schemas.Cluster{Name: c.nameOf(i), Labels: labels}
	c.fleet.SetCluster(c.clusters[i])
}

// resize gives a cluster more or less to allocate.
func (c *crowd) resize(i int) {
	changed := *c.clusters[i]
	changed.Allocatable = map[string]string{"cpu": fmt.Sprint(1 + c.rng.IntN(1+c.rng.IntN(64)))}
	changed.Capacity = changed.Allocatable
	c.clusters[i] = &changed
	c.fleet.SetCluster(c.clusters[i])
}

func (c *crowd) rate(i int) { c.score(c.nameOf(i), "gpu", int32(c.rng.IntN(201)-100), time.Hour) }

// change is mostly of one score.
func (c *crowd) change() {
	for range 1 + c.rng.IntN(2)*c.rng.IntN(6) {
		switch i := c.rng.IntN(c.size); c.rng.IntN(30) {
		case 0:
			c.locate(i)
		case 1, 2, 3:
			c.resize(i)
		default:
			c.rate(i)
		}
	}
	c.now = c.now.Add(time.Duration(c.rng.IntN(20)) * time.Second)
}

func (c *crowd) spec() clusterv1beta1.PlacementSpec {
	spec := onGPU(int32(1 + c.rng.IntN(c.size)))
	if c.rng.IntN(3) == 0 {
		spec = onGPU(int32(1 + c.rng.IntN(4)))
	}
	return spec
}

func (c *crowd) terms() (terms []clusterv1beta1.SpreadConstraintsTerm) {
	for range 1 + c.rng.IntN(3) {
		terms = append(terms, clusterv1beta1.SpreadConstraintsTerm{
			TopologyKey: pick(c.rng, "zone", "rack", "zone", "rack", "nothing"), TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel,
			MaxSkew: int32(1 + c.rng.IntN(3)), WhenUnsatisfiable: pick(c.rng, clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway),
		})
	}
	return terms
}

// plainPick looks at everybody for each place.
func (r *Ranking) plainPick(n int) []int32 {
	taken := make([]map[int32]int32, len(r.spread.terms))
	for i := range taken {
		taken[i] = map[int32]int32{}
		for _, id := range r.order {
			if value := r.spread.places[r.spread.of[id]][i]; value != none {
				taken[i][value] = 0
			}
		}
	}
	violated := func(id int32) (out []bool, allowed bool) {
		allowed = true
		for i, t := range r.spread.terms {
			least, value := int32(1<<30), r.spread.places[r.spread.of[id]][i]
			for _, n := range taken[i] {
				least = min(least, n)
			}
			violates := value == none || taken[i][value]+1-least > t.skew
			out, allowed = append(out, violates), allowed && (!violates || !t.hard)
		}
		return out, allowed
	}
	var ids []int32
	for len(ids) < n {
		best, fewest := int32(none), []bool(nil)
		for _, id := range r.order {
			if slices.Contains(ids, id) {
				continue
			}
			if v, allowed := violated(id); allowed && (best == none || slices.CompareFunc(v, fewest, compareBools) < 0) {
				best, fewest = id, v
			}
		}
		if best == none {
			break
		}
		ids = append(ids, best)
		for i, value := range r.spread.places[r.spread.of[best]][:len(r.spread.terms)] {
			if value != none {
				taken[i][value]++
			}
		}
	}
	slices.SortFunc(ids, r.compare)
	return ids
}

// TestSpreadOfMany holds a ranking that looks only at what changed against
// one that looks at everybody for each place.
func TestSpreadOfMany(t *testing.T) {
	t.Parallel()
	same, others := 0, 0
	for seed := range uint64(60) {
		c := newCrowd(t, seed)
		spec := c.spec()
		spec.NumberOfClusters = number(min(*spec.NumberOfClusters, 40))
		spec.SpreadPolicy.SpreadConstraints = c.terms()
		p := place(t, spec)
		r := NewRanking(p, c.fleet, nil)
		for step := range 25 {
			c.change()
			before := slices.Clone(r.choice.ids)
			r.Refresh(c.now)
			if want := r.plainPick(r.wanted()); !slices.Equal(r.choice.ids, want) {
				t.Fatalf("seed %d, step %d: picked %v, want %v of %v by %+v", seed, step, r.choice.ids, want, r.order, spec.SpreadPolicy)
			}
			if slices.Equal(before, r.choice.ids) {
				same++
			} else {
				others++
			}
		}
	}
	if same < 300 || others < 300 {
		t.Errorf("%d times the same was picked, %d times another: the test is blunt", same, others)
	}
}

// TestFlapControlOfMany holds it against the oracle of flap control.
func TestFlapControlOfMany(t *testing.T) {
	t.Parallel()
	moved, kept := 0, 0
	for seed := range uint64(120) {
		c := newCrowd(t, seed)
		s, annotate := c.randomSettings()
		p := place(t, c.spec(), annotate)
		if !(&policy{deadBand: s.band, window: s.window, cooldown: s.cooldown, dwell: s.dwell, budget: s.budget}).controls() {
			continue
		}
		r := NewRanking(p, c.fleet, nil)
		var prior *schemas.PlacementDecision
		for step := range 30 {
			c.change()
			r.Refresh(c.now)
			next := r.Decision()
			if prior != nil {
				ranked, totals := make([]string, len(r.order)), map[string]int64{}
				for i, id := range r.order {
					ranked[i] = c.fleet.names[id]
					totals[ranked[i]] = r.total(id)
				}
				n := r.wanted()
				want := s.held(ranked, totals, map[string]bool{}, n, prior, c.now)
				if got := SelectedNames(&next); !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: selected %v, want %v after %v by %+v", seed, step, got, want, SelectedNames(prior), s)
				}
				moved += len(next.Removed)
				if !slices.Equal(want, ranked[:n]) {
					kept++
				}
			}
			if r.Difference() == Material {
				prior = &next
				r.SetPrior(after(next))
			}
		}
	}
	if moved < 300 || kept < 300 {
		t.Errorf("%d moves, %d decisions held back: the test is blunt", moved, kept)
	}
}

// TestRankingOfManyEqualsDecide has both at once, and drains and rebalances.
func TestRankingOfManyEqualsDecide(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		c := newCrowd(t, seed)
		c.rebalances = true
		_, annotate := c.randomSettings()
		if c.rng.IntN(2) == 0 {
			annotate = func(*schemas.Placement) {}
		}
		band := int64(30)
		spec := c.spec()
		if c.rng.IntN(2) == 0 {
			spec.PrioritizerPolicy = exact(addOnOf("gpu", 1), builtIn(builtInCPU, 1))
		}
		if c.rng.IntN(4) > 0 {
			spec.SpreadPolicy.SpreadConstraints = c.terms()
		}
		p := place(t, spec, annotate)
		var prior *Prior
		r := NewRanking(p, c.fleet, prior)
		for step := range 30 {
			if c.rng.IntN(3) > 0 {
				c.change()
			}
			switch c.rng.IntN(8) {
			case 0:
				c.cordon(c.nameOf(c.rng.IntN(c.size)))
			case 1:
				c.rebalance()
			case 2, 3, 4:
				c.fleet.SetPolicy(&schemas.PlacementPolicySpec{DeadBand: pick(c.rng, nil, &band)})
			}
			r.Refresh(c.now)
			got := r.Decision()
			if diff := cmp.Diff(c.decide(p, prior), got); diff != "" {
				t.Fatalf("seed %d, step %d: the ranking differs from Decide (-want +got):\n%s", seed, step, diff)
			}
			if r.Difference() == Material {
				prior = after(got)
				r.SetPrior(prior)
			}
		}
	}
}
