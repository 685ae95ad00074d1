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
	return r.total[x.rivals[x.vacant+i]] - r.total[x.behind[i]], true
}

// protected reports whether flap control may keep the cluster. It may not
// keep one whose score is late (the policies worst and zero) for as long as
// there is one to select whose score is not.
func (r *Ranking) protected(id int32) bool {
	v := &r.verdicts[id]
	return v.reason == eligible && (!v.late || !r.choice.freshRival)
}

// holders are the clusters that are selected and protected, best first; of
// more than n the best.
func (r *Ranking) holders(n int) []int32 {
	fresh := r.fresh
	for _, id := range r.before.ids {
		if v := &r.verdicts[id]; v.reason == eligible && !v.late {
			fresh--
		}
	}
	r.choice.freshRival = fresh > 0
	if n == 0 {
		return nil
	}
	var out []int32
	for _, id := range r.order[:n] {
		if r.selectedBefore(id) && r.protected(id) {
			out = append(out, id)
		}
	}
	ranked := len(out)
	for _, id := range r.before.ids {
		if r.protected(id) && r.compare(r.order[n-1], id) < 0 {
			out = append(out, id)
		}
	}
	slices.SortFunc(out[ranked:], r.compare)
	return out[:min(len(out), n)]
}

// contest finds who would go and who would come in for n places, if only the
// dead band held. Rivals and holders are compared in pairs: the best of those
// who are not in against the worst of those who are.
func (r *Ranking) contest(n int) contest {
	x := contest{holders: r.holders(n)}
	x.vacant = n - len(x.holders)
	for _, id := range r.order[:n] {
		if !r.selectedBefore(id) || !r.protected(id) {
			x.rivals = append(x.rivals, id)
		}
	}
	for i, id := range slices.Backward(x.holders) {
		next := x.vacant + len(x.holders) - 1 - i
		if next >= len(x.rivals) || r.total[x.rivals[next]]-r.total[id] <= r.policy.band() {
			break
		}
		x.behind = append(x.behind, id)
	}
	x.rivals = x.rivals[:min(len(x.rivals), x.vacant+len(x.behind))]
	return x
}

// chooseHeld chooses n clusters so that flap control lets no more go than it
// may.
func (r *Ranking) chooseHeld(n int) {
	c := &r.choice
	find, fill := r.contest, r.fill
	if r.spreads() {
		find, fill = r.spreadContest, r.spreadFill
	}
	x := find(n)
	released := r.release(&x)
	c.ids = fill(&x, released, n, c.ids[:0])
	slices.SortFunc(c.ids, r.compare)
	r.holdBand(n)
}

// fill puts as many of the best rivals in as are vacant or released.
func (r *Ranking) fill(x *contest, released map[int32]bool, _ int, ids []int32) []int32 {
	for _, id := range x.holders {
		if !released[id] {
			ids = append(ids, id)
		}
	}
	return append(ids, x.rivals[:x.vacant+len(released)]...)
}

// holdBand notes the clusters that the dead band alone keeps: without it they
// would rank too low.
func (r *Ranking) holdBand(n int) {
	if n == 0 || r.spreads() {
		return
	}
	for _, id := range slices.Backward(r.choice.ids) {
		if r.compare(r.order[n-1], id) >= 0 {
			return
		}
		if _, held := r.control.holds[id]; !held {
			r.control.hold(id, hold{gateBand, never})
		}
	}
}
