package placement

import "container/heap"

// pick selects up to n clusters: those of forced, then, one after the other,
// the first in order of those that violate least. A violation of a term
// counts more than those of all later terms, and one of DoNotSchedule is not
// allowed.
func (r *Ranking) pick(order, forced []int32, n int, ids []int32) []int32 {
	p := newPicker(&r.spread, order)
	for _, id := range forced {
		p.take(r.spread.places[r.spread.of[id]])
	}
	ids = append(ids, forced...)
	p.restart()
	for len(ids) < n && len(p.open) > 0 {
		q := p.open[0]
		if now := p.violations(q.place); now != q.violations {
			p.reopen(now)
			continue
		}
		ids = append(ids, q.next())
		if p.take(q.place) {
			p.restart()
		} else {
			p.reopen(p.violations(q.place))
		}
	}
	return ids
}

// queue is the clusters of one place that are not picked yet.
type queue struct {
	place      spot
	ids        []int32
	ranks      []int32 // theirs in the order
	violations uint16
}

func (q *queue) next() int32 {
	id := q.ids[0]
	q.ids, q.ranks = q.ids[1:], q.ranks[1:]
	return id
}

// picker is a heap of the queues that may be picked from.
type picker struct {
	*spread
	queues []queue
	open   []*queue
	taken  [][]int32 // of each term's values
	least  []int32   // taken of any value of a term
	atThat []int32   // how many values have so few
}

func newPicker(s *spread, order []int32) *picker {
	p := &picker{spread: s, queues: make([]queue, len(s.places)), least: make([]int32, len(s.terms)), atThat: make([]int32, len(s.terms))}
	for i, place := range s.places {
		p.queues[i].place = place
	}
	p.line(order)
	for i := range s.terms {
		p.taken = append(p.taken, make([]int32, len(s.count[i])))
		for _, n := range s.count[i] {
			if n > 0 {
				p.atThat[i]++
			}
		}
	}
	return p
}

// line puts the clusters into the queues. All of them share two arrays, which
// are kept for the next time.
func (p *picker) line(order []int32) {
	p.ids, p.ranks = grown(p.ids, len(order)), grown(p.ranks, len(order))
	lengths := make([]int32, len(p.queues))
	for _, id := range order {
		lengths[p.of[id]]++
	}
	start := int32(0)
	for i, n := range lengths {
		q := &p.queues[i]
		q.ids, q.ranks = p.ids[start:start:start+n], p.ranks[start:start:start+n]
		start += n
	}
	for rank, id := range order {
		q := &p.queues[p.of[id]]
		q.ids, q.ranks = append(q.ids, id), append(q.ranks, int32(rank))
	}
}

func grown(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}

// take counts a cluster of the spot, and reports whether the least of a term
// has risen, so that others may violate less than before.
func (p *picker) take(of spot) (risen bool) {
	for i := range p.terms {
		value := of[i]
		if value == none {
			continue
		}
		p.taken[i][value]++
		if p.taken[i][value] != p.least[i]+1 {
			continue
		}
		if p.atThat[i]--; p.atThat[i] > 0 {
			continue
		}
		risen = true
		p.least[i]++
		for v, n := range p.taken[i] {
			if n == p.least[i] && p.count[i][v] > 0 {
				p.atThat[i]++
			}
		}
	}
	return risen
}

// forbidden is more than any sum of violations that are allowed.
const forbidden = 1 << maxSpreadTerms

// violations has a bit for each term that one more cluster of the spot would
// violate, the first term's the highest.
func (p *picker) violations(of spot) uint16 {
	var out uint16
	for i := range p.terms {
		t := &p.terms[i]
		if of[i] != none && p.taken[i][of[i]]+1-p.least[i] <= t.skew {
			continue
		}
		if t.hard {
			return forbidden
		}
		out |= 1 << (maxSpreadTerms - 1 - i)
	}
	return out
}

// restart looks at every queue anew.
func (p *picker) restart() {
	p.open = p.open[:0]
	for i := range p.queues {
		q := &p.queues[i]
		if len(q.ids) == 0 {
			continue
		}
		if q.violations = p.violations(q.place); q.violations != forbidden {
			p.open = append(p.open, q)
		}
	}
	heap.Init(p)
}

// reopen puts the first queue where it belongs now.
func (p *picker) reopen(violations uint16) {
	if len(p.open[0].ids) == 0 || violations == forbidden {
		heap.Pop(p)
		return
	}
	p.open[0].violations = violations
	heap.Fix(p, 0)
}

// Len, Less, Swap, Push and Pop are container/heap's.
func (p *picker) Len() int { return len(p.open) }

// Less prefers fewer violations, then the better rank.
func (p *picker) Less(i, j int) bool {
	a, b := p.open[i], p.open[j]
	if a.violations != b.violations {
		return a.violations < b.violations
	}
	return a.ranks[0] < b.ranks[0]
}

func (p *picker) Swap(i, j int) { p.open[i], p.open[j] = p.open[j], p.open[i] }

// Push is never needed.
func (p *picker) Push(any) {}

// Pop removes the last.
func (p *picker) Pop() any {
	last := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	return last
}
