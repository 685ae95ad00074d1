package placement

import (
	"fmt"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// maxSpreadTerms is that of the CRD.
const maxSpreadTerms = 8

// spreadTerm is one constraint of a Placement's spreadPolicy.
type spreadTerm struct {
	key   string
	claim bool
	skew  int32
	hard  bool // DoNotSchedule
}

func spreadOf(policy clusterv1beta1.SpreadPolicy) ([]spreadTerm, error) {
	if n := len(policy.SpreadConstraints); n > maxSpreadTerms {
		return nil, fmt.Errorf("spec.spreadPolicy.spreadConstraints has %d terms: write at most %d", n, maxSpreadTerms)
	}
	var out []spreadTerm
	for i, c := range policy.SpreadConstraints {
		field := fmt.Sprintf("spec.spreadPolicy.spreadConstraints[%d]", i)
		t := spreadTerm{key: c.TopologyKey, claim: c.TopologyKeyType == clusterv1beta1.TopologyKeyTypeClaim, skew: max(c.MaxSkew, 1)}
		t.hard = c.WhenUnsatisfiable == clusterv1beta1.DoNotSchedule
		switch {
		case t.key == "":
			return nil, fmt.Errorf("%s.topologyKey is empty: write the key of a label or the name of a claim", field)
		case !t.claim && c.TopologyKeyType != clusterv1beta1.TopologyKeyTypeLabel:
			return nil, fmt.Errorf("%s.topologyKeyType is %q: write Label or Claim", field, c.TopologyKeyType)
		case c.MaxSkew < 0:
			return nil, fmt.Errorf("%s.maxSkew is %d: write 1 or more", field, c.MaxSkew)
		case !t.hard && c.WhenUnsatisfiable != "" && c.WhenUnsatisfiable != clusterv1beta1.ScheduleAnyway:
			return nil, fmt.Errorf("%s.whenUnsatisfiable is %q: write DoNotSchedule or ScheduleAnyway", field, c.WhenUnsatisfiable)
		}
		out = append(out, t)
	}
	return out, nil
}

func (t *spreadTerm) String() string {
	if t.claim {
		return "claim " + t.key
	}
	return "label " + t.key
}

// spot is where a cluster stands: a number for the value of each term's key,
// none where it has none.
type spot [maxSpreadTerms]int32

// spread is the eligible clusters by place.
type spread struct {
	terms  []spreadTerm
	values []map[string]int32 // the numbers of each term's values
	places []spot             // by the numbers of the places
	number map[spot]int32
	of     []int32   // the number of each cluster's place, none where it is not eligible
	count  [][]int32 // of each term's values, how many eligible clusters have it
	ids    []int32   // room for a picker, and its ranks
	ranks  []int32
	stands stand
}

func newSpread(terms []spreadTerm) spread {
	s := spread{terms: terms, number: map[spot]int32{}}
	for range terms {
		s.values = append(s.values, map[string]int32{})
		s.count = append(s.count, nil)
	}
	return s
}

func (r *Ranking) spreads() bool { return len(r.spread.terms) > 0 }

// locate takes note of where a cluster stands now.
func (s *spread) locate(id int32, c *cluster, eligible bool) {
	if len(s.terms) == 0 {
		return
	}
	for int(id) >= len(s.of) {
		s.of = append(s.of, none)
	}
	was := s.of[id]
	s.tally(was, -1)
	s.of[id] = none
	if eligible {
		s.of[id] = s.placeOf(c)
	}
	s.tally(s.of[id], 1)
	s.stands.open = s.stands.open && was == s.of[id]
}

func (s *spread) tally(number, by int32) {
	if number == none {
		return
	}
	for i, value := range s.places[number][:len(s.terms)] {
		if value != none {
			s.count[i][value] += by
		}
	}
}

func (s *spread) placeOf(c *cluster) int32 {
	var p spot
	for i := range s.terms {
		p[i] = s.valueOf(i, c)
	}
	number, known := s.number[p]
	if !known {
		number = int32(len(s.places))
		s.number[p] = number
		s.places = append(s.places, p)
	}
	return number
}

func (s *spread) valueOf(term int, c *cluster) int32 {
	from := c.labels
	if s.terms[term].claim {
		from = c.claims
	}
	text, has := from[s.terms[term].key]
	if !has {
		return none
	}
	value, known := s.values[term][text]
	if !known {
		value = int32(len(s.count[term]))
		s.values[term][text] = value
		s.count[term] = append(s.count[term], 0)
	}
	return value
}

// spreadContest is contest where clusters are spread: what would be picked
// against what was.
func (r *Ranking) spreadContest(n int) contest {
	r.survey()
	s := &r.fleet.scratch
	s.holders = s.holders[:0]
	for _, id := range r.order {
		if r.holds(id) {
			s.holders = append(s.holders, id)
		}
	}
	holders := s.holders
	if len(holders) > n {
		holders = r.pick(holders, nil, n, nil)
		r.rank(holders)
	}
	x := contest{holders: holders, vacant: n - len(holders)}
	ideal := r.pick(r.merged(holders), nil, n, nil)
	r.rank(ideal)
	chosen, held := r.mark(&s.ideal, ideal), r.mark(&s.held, holders)
	for _, id := range ideal {
		if !held.has(id) {
			x.rivals = append(x.rivals, id)
		}
	}
	for _, id := range slices.Backward(holders) {
		if !chosen.has(id) {
			x.behind = append(x.behind, id)
		}
	}
	return x
}

// spreadFill picks anew around the holders that were not released.
func (r *Ranking) spreadFill(x *contest, released *marks, n int, ids []int32) []int32 {
	kept := slices.DeleteFunc(slices.Clone(x.holders), released.has)
	if len(kept) == n {
		return append(ids, kept...)
	}
	order := r.merged(x.holders)
	skip := r.mark(&r.fleet.scratch.held, kept)
	ids = r.pick(slices.DeleteFunc(order, skip.has), kept, n, ids)
	r.rank(ids)
	return ids
}

// merged is the order in which a holder comes before everybody who does not
// lead it by more than the dead band.
func (r *Ranking) merged(holders []int32) []int32 {
	held, out := r.mark(&r.fleet.scratch.held, holders), make([]int32, 0, len(r.order))
	for _, id := range r.order {
		if held.has(id) {
			continue
		}
		for len(holders) > 0 && r.total(id)-r.total(holders[0]) <= r.policy.band() {
			out, holders = append(out, holders[0]), holders[1:]
		}
		out = append(out, id)
	}
	return append(out, holders...)
}

func set(ids []int32) map[int32]bool {
	out := make(map[int32]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

func (r *Ranking) spreadLetsNoneIn() string {
	var keys []string
	for i := range r.spread.terms {
		if t := &r.spread.terms[i]; t.hard {
			keys = append(keys, t.String())
		}
	}
	return fmt.Sprintf("spec.spreadPolicy lets none of %d eligible clusters in: none has all of %s", len(r.order), join(keys))
}
