package placement

// stand is what was picked best last, and who came next at each place. While
// it is open, all clusters are where they were.
type stand struct {
	open   bool
	n      int
	picked marks
	next   []int32 // by the numbers of the places, none where all are picked
}

// pickBest picks n clusters of the order. Last is what was chosen before, and
// best whether that was picked here too. Whoever stood behind the next of a place, and does so still, was
// never looked at and will not be: where nobody else has moved, the last pick
// is this one.
func (r *Ranking) pickBest(n int, last []int32, best bool) []int32 {
	s := &r.spread
	if best && s.stands.open && s.stands.n == n && r.allBehind(r.fleet.scratch.moved) {
		return last
	}
	p := newPicker(s, r.order)
	ids := p.pick(n, last[:0])
	r.rank(ids)
	s.stands.open, s.stands.n = true, n
	r.mark(&s.stands.picked, ids)
	s.stands.next = s.stands.next[:0]
	for i := range p.queues {
		next := int32(none)
		if q := &p.queues[i]; len(q.ids) > 0 {
			next = q.ids[0]
		}
		s.stands.next = append(s.stands.next, next)
	}
	return ids
}

// allBehind reports whether all that have moved were and are behind the next
// of their places.
func (r *Ranking) allBehind(moved []int32) bool {
	s := &r.spread
	for _, id := range moved {
		if r.verdicts[id].reason != eligible {
			continue // as before
		}
		if next := s.stands.next[s.of[id]]; next == none || next == id || s.stands.picked.has(id) || r.compare(next, id) > 0 {
			return false
		}
	}
	return true
}
