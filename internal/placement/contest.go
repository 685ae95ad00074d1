package placement

import "slices"

// contest is who stands against whom for the places.
type contest struct {
	holders []int32 // selected before, and protected: best first
	rivals  []int32 // those who would come in if nothing held, best first
	vacant  int     // how many of the rivals take a place that nobody holds
	behind  []int32 // holders who would go, the worst first
}

// lead is by how much the rival of the i-th one behind leads; false where it
// has none.
func (r *Ranking) lead(x *contest, i int) (int64, bool) {
	if x.vacant+i >= len(x.rivals) {
		return 0, false
	}
	return r.total(x.rivals[x.vacant+i]) - r.total(x.behind[i]), true
}

// protected reports whether flap control may keep the cluster. It may not
// keep one whose score is late (the policies worst and zero) for as long as
// there is one to select whose score is not.
func (r *Ranking) protected(id int32) bool {
	v := &r.verdicts[id]
	return v.reason == eligible && (!v.late || !r.choice.freshRival)
}

// holds reports whether a cluster of the order was selected and is protected.
func (r *Ranking) holds(id int32) bool {
	return r.selectedBefore(id) && (r.choice.noneLate || r.protected(id))
}

// survey finds out whether any score is late, and whether there is a cluster
// to select instead whose score is not.
func (r *Ranking) survey() {
	r.choice.noneLate = r.fresh == len(r.order)
	r.choice.freshRival = r.fresh > len(r.before.ids)
	if r.choice.noneLate || r.choice.freshRival {
		return
	}
	fresh := r.fresh
	for _, id := range r.before.ids {
		if v := &r.verdicts[id]; v.reason == eligible && !v.late {
			fresh--
		}
	}
	r.choice.freshRival = fresh > 0
}

// contest finds who would go and who would come in for n places, if only the
// dead band held. Rivals and holders are compared in pairs: the best of those
// who are not in against the worst of those who are.
func (r *Ranking) contest(n int) contest {
	s := &r.fleet.scratch
	s.holders, s.rivals, s.behind = s.holders[:0], s.rivals[:0], s.behind[:0]
	r.survey()
	for _, id := range r.order[:n] {
		if r.holds(id) {
			s.holders = append(s.holders, id)
		} else {
			s.rivals = append(s.rivals, id)
		}
	}
	s.holders = r.furtherHolders(s.holders, n)
	x := contest{holders: s.holders, rivals: s.rivals, vacant: n - len(s.holders)}
	for i, id := range slices.Backward(x.holders) {
		next := x.vacant + len(x.holders) - 1 - i
		if next >= len(x.rivals) || r.total(x.rivals[next])-r.total(id) <= r.policy.band() {
			break
		}
		s.behind = append(s.behind, id)
	}
	x.behind = s.behind
	x.rivals = x.rivals[:min(len(x.rivals), x.vacant+len(x.behind))]
	return x
}

// furtherHolders appends to holders those that rank behind the first n, as
// long as there are not n. Where few were selected, going through these is
// cheaper than going through the order.
func (r *Ranking) furtherHolders(holders []int32, n int) []int32 {
	rest, ranked := r.order[n:], len(holders)
	switch {
	case ranked == n:
	case len(r.before.ids) > len(rest)/32:
		for _, id := range rest {
			if r.holds(id) {
				if holders = append(holders, id); len(holders) == n {
					break
				}
			}
		}
	default:
		for _, id := range r.before.ids {
			if r.protected(id) && r.compare(r.order[n-1], id) < 0 {
				holders = append(holders, id)
			}
		}
		slices.SortFunc(holders[ranked:], r.compare)
	}
	return holders[:min(len(holders), n)]
}

// chooseHeld chooses n clusters so that flap control lets no more go than it
// may.
func (r *Ranking) chooseHeld(n int) {
	find, fill := r.contest, r.fill
	if r.spreads() {
		find, fill = r.spreadContest, r.spreadFill
	}
	x := find(n)
	released := r.release(&x)
	r.choice.ids = fill(&x, released, n, r.choice.ids[:0])
	r.choice.banded = !r.spreads() && !r.rebalancing && n > 0
}

// fill puts as many of the best rivals in as are vacant or released, all in
// their order.
func (r *Ranking) fill(x *contest, released *marks, n int, ids []int32) []int32 {
	if len(r.before.ids) <= len(r.order)/32 {
		ids = append(append(ids, slices.DeleteFunc(x.holders, released.has)...), x.rivals[:x.vacant+len(released.ids)]...)
		slices.SortFunc(ids, r.compare)
		return ids
	}
	holders, rivals := len(x.holders), x.vacant+len(released.ids)
	for _, id := range r.order {
		switch {
		case len(ids) == n:
			return ids
		case r.holds(id):
			if holders--; holders >= 0 && !released.has(id) {
				ids = append(ids, id)
			}
		case rivals > 0:
			rivals--
			ids = append(ids, id)
		}
	}
	return ids
}
