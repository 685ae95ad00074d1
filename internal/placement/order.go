package placement

import (
	"cmp"
	"math"
	"slices"
)

// rescale finds the bounds of the resources anew and reports whether they
// changed, and with them every total.
func (r *Ranking) rescale(rejudged bool) (all bool) {
	if !rejudged {
		return false
	}
	for i := range r.placement.terms {
		t := &r.placement.terms[i]
		if t.kind != kindResource {
			continue
		}
		b := noBounds
		for id := range r.verdicts {
			if r.verdicts[id].reason == eligible {
				b = b.with(r.fleet.clusters[id].allocatable[t.amount])
			}
		}
		all = all || !b.same(r.bounds[t.amount])
		r.bounds[t.amount] = b
		// Where the bounds stay, the values between them may have changed.
		for _, id := range r.fleet.scratch.dirty {
			r.moved(id)
		}
	}
	return all
}

func (r *Ranking) rebalance() (all bool) {
	if !r.placement.Balances() {
		return false
	}
	s := &r.fleet.scratch
	s.moved, all = r.balance.refresh(&r.fleet.counts, r.placement.Key(), s.moved)
	return all
}

// sumOf is the total of an eligible cluster. It has room: a weight is at most
// 10, a score 100, and no Placement has two million prioritizers.
func (r *Ranking) sumOf(id int32) int32 {
	sum := int64(r.verdicts[id].sum)
	for i := range r.placement.terms {
		switch t := &r.placement.terms[i]; t.kind {
		case kindBalance:
			sum += t.weight * r.balance.score(&r.fleet.counts, id)
		case kindResource:
			sum += t.weight * resourceScore(r.fleet.clusters[id].allocatable[t.amount], r.bounds[t.amount])
		}
	}
	return int32(sum)
}

// total is what sumOf was when the cluster was put in order, or what the prior
// decision says where that stays.
func (r *Ranking) total(id int32) int64 { return int64(r.totals[id]) }

// compare is the order of two clusters: by total, the higher first, then by
// name.
func (r *Ranking) compare(a, b int32) int {
	return cmp.Or(cmp.Compare(r.totals[b], r.totals[a]), cmp.Compare(r.fleet.place[a], r.fleet.place[b]))
}

// rank puts clusters of the order into it. Where they are many, going through
// the order is cheaper than to sort them.
func (r *Ranking) rank(ids []int32) {
	if len(ids) < len(r.order)/32 {
		slices.SortFunc(ids, r.compare)
		return
	}
	chosen, ranked := r.mark(&r.fleet.scratch.ranked, ids), ids[:0]
	for _, id := range r.order {
		if len(ranked) == len(ids) {
			break
		}
		if chosen.has(id) {
			ranked = append(ranked, id)
		}
	}
}

// reorder puts the moved clusters into their places, or sorts everything
// where that is cheaper.
func (r *Ranking) reorder(all bool) {
	s := &r.fleet.scratch
	if all || len(s.moved) > 8+len(r.order)/16 {
		r.spread.stands.open = false
		r.sort()
		return
	}
	slices.Sort(s.moved)
	s.moved = slices.Compact(s.moved)
	for _, id := range s.moved {
		if i, found := slices.BinarySearchFunc(r.order, id, r.compare); found {
			r.order = slices.Delete(r.order, i, i+1)
		}
	}
	for _, id := range s.moved {
		if r.verdicts[id].reason == eligible {
			r.totals[id] = r.sumOf(id)
			i, _ := slices.BinarySearchFunc(r.order, id, r.compare)
			r.order = slices.Insert(r.order, i, id)
		}
	}
}

// sort makes the order anew. Total and place in one number sort several times
// faster than compare does.
func (r *Ranking) sort() {
	keys := r.fleet.scratch.keys[:0]
	for id := range r.verdicts {
		if r.verdicts[id].reason == eligible {
			total := r.sumOf(int32(id))
			r.totals[id] = total
			keys = append(keys, uint64(math.MaxInt32-int64(total))<<32|uint64(r.fleet.place[id]))
		}
	}
	slices.Sort(keys)
	r.order = slices.Grow(r.order[:0], len(keys))
	for _, key := range keys {
		r.order = append(r.order, r.fleet.byName[uint32(key)])
	}
	r.fleet.scratch.keys = keys
}
