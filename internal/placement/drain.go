package placement

import "slices"

// drain lets clusters go that are being drained: those whose place another
// one takes, or that are forced out, as far as the change budget and the
// cooldown have room. The dead band, the window and the dwell are against
// noise, which a drain is not. It is no fact either, so it waits its turn.
//
// A cluster that may go is cordoned from here on, as it will be in the next
// decision. The others are held.
func (r *Ranking) drain() {
	forced, waiting := r.draining()
	if len(forced)+len(waiting) == 0 {
		return
	}
	going := append(forced, r.replaceable(waiting, len(forced))...)
	let := set(going)
	for _, id := range waiting {
		if !let[id] {
			r.control.drain(id, hold{gateDrain, never})
		}
	}
	surplus := r.heldNow() - r.wanted() // who goes in any case, as the Placement wants fewer
	var gone []int32
	for i, id := range going {
		h := r.drainHold(len(gone))
		if i >= surplus && r.waits(h) {
			r.control.drain(id, h)
			r.control.first[h.gate] = min(r.control.first[h.gate], h.until)
			continue
		}
		gone = append(gone, id)
	}
	r.letGo(gone)
}

// draining returns the selected clusters that are being drained, those that
// are forced out apart, the worst first.
func (r *Ranking) draining() (forced, waiting []int32) {
	if len(r.fleet.cordons) == 0 {
		return nil, nil
	}
	for _, id := range r.before.ids {
		c := r.fleet.cordoned(id, r.now)
		switch {
		case c == nil || !c.draining() || r.verdicts[id].reason != eligible:
		case c.spec.Force:
			forced = append(forced, id)
		default:
			waiting = append(waiting, id)
		}
	}
	worst := func(a, b int32) int { return r.compare(b, a) }
	slices.SortFunc(forced, worst)
	slices.SortFunc(waiting, worst)
	return forced, waiting
}

// replaceable returns those of waiting without whom the Placement has as many
// clusters as with them. One that takes all there are keeps at least one.
func (r *Ranking) replaceable(waiting []int32, forced int) []int32 {
	wanted := r.placement.Spec.NumberOfClusters
	switch {
	case len(waiting) == 0:
		return nil
	case wanted == nil:
		return waiting[:min(len(waiting), len(r.order)-forced-1)]
	case r.spreads():
		return r.spreadReplaceable(waiting, min(int(*wanted), len(r.order)-forced))
	}
	return waiting[:min(len(waiting), max(0, len(r.order)-forced-int(*wanted)))]
}

// spreadReplaceable picks among the others first, and puts those of waiting
// only where the spread lets no other in.
func (r *Ranking) spreadReplaceable(waiting []int32, n int) []int32 {
	var kept, others []int32
	for _, id := range r.order {
		c := r.fleet.cordoned(id, r.now)
		switch {
		case c != nil && c.draining():
		case r.policy.controls() && r.selectedBefore(id) && len(kept) < n:
			kept = append(kept, id)
		default:
			others = append(others, id)
		}
	}
	ideal := set(r.pick(others, kept, n, nil))
	rest := slices.DeleteFunc(others, func(id int32) bool { return ideal[id] })
	for _, id := range slices.Backward(waiting) {
		rest = append(rest, id)
	}
	var chosen []int32
	for _, id := range r.order {
		if ideal[id] {
			chosen = append(chosen, id)
		}
	}
	stay := set(r.pick(rest, chosen, n, nil))
	return slices.DeleteFunc(slices.Clone(waiting), func(id int32) bool { return stay[id] })
}

// heldNow is how many eligible clusters are selected.
func (r *Ranking) heldNow() int {
	n := 0
	for _, id := range r.before.ids {
		if r.verdicts[id].reason == eligible {
			n++
		}
	}
	return n
}

// drainHold is what keeps one more cluster beside those that go now.
func (r *Ranking) drainHold(now int) hold {
	if r.policy.wrong != nil {
		return hold{gateSettings, never}
	}
	h := r.cooling()
	if left, refill := r.budgetLeft(now); left <= 0 {
		h = h.or(hold{gateBudget, refill})
	}
	return h
}

// waits reports whether the hold is not over.
func (r *Ranking) waits(h hold) bool { return h.until > r.now }

// letGo judges those anew that go.
func (r *Ranking) letGo(gone []int32) {
	if len(gone) == 0 {
		return
	}
	if r.drained == nil {
		r.drained = map[int32]bool{}
	}
	s := &r.fleet.scratch
	s.dirty, s.moved = append(s.dirty[:0], gone...), s.moved[:0]
	for _, id := range gone {
		r.drained[id] = true
		r.rejudge(id)
	}
	r.reorder(r.rescale(true))
	r.control.drained = len(gone)
}

// newlyDraining is a cluster that is held in spite of a drain and was not
// explained so before; none if there is none.
func (r *Ranking) newlyDraining() int32 {
	for _, e := range r.prior.Decision.Explanations {
		if e.Reason != ExplainedSelected {
			continue
		}
		id := r.fleet.id(e.Cluster)
		c := r.fleet.cordoned(id, r.now)
		if h, held := r.heldBy(id); held && h.gate != gateBand && c != nil && c.draining() {
			return id
		}
	}
	return none
}
