package placement

// pick selects up to n clusters: those of forced, then, one after the other,
// the first in order of those that violate least. A violation of a term
// counts more than those of all later terms, and one of DoNotSchedule is not
// allowed.
func (r *Ranking) pick(order, forced []int32, n int, ids []int32) []int32 {
	p := newPicker(&r.spread, order)
	for _, id := range forced {
		p.take(&r.spread.places[r.spread.of[id]])
	}
	return p.pick(n, append(ids, forced...))
}

// pick appends to ids until there are n, or nobody may be picked any more.
func (p *picker) pick(n int, ids []int32) []int32 {
	p.restart()
	for len(ids) < n && len(p.open) > 0 {
		block := p.open[0].index
		if key, open := p.best(block); !open || key != p.open[0].key {
			p.settle(key, open)
			continue
		}
		q := &p.queues[p.blocks[block].open[0].index]
		ids = append(ids, q.next())
		switch leadRose, rose := p.take(&q.place); {
		case rose:
			p.restart()
		case leadRose:
			p.reopen()
		default:
			p.settle(p.best(block))
		}
	}
	return ids
}

// queue is the clusters of one place that are not picked yet.
type queue struct {
	place spot
	ids   []int32
	ranks []int32 // theirs in the order
}

func (q *queue) next() int32 {
	id := q.ids[0]
	q.ids, q.ranks = q.ids[1:], q.ranks[1:]
	return id
}

// block is the queues that have the same value of the lead.
type block struct {
	queues []int32
	open   waiting // of those, as the other terms have it
	value  int32   // none for those without
}

// picker holds the queues that may be picked from. A picked cluster can only
// make others violate more, unless it has the least of a term risen. So the
// keys are lower bounds, made anew for the first one alone until then. The
// term that has the fewest values, the lead, rises most often: its violations
// are added for a whole block of queues, and its rise costs a look at each
// block only.
type picker struct {
	*spread
	lead   int
	queues []queue
	blocks []block
	open   waiting // of blocks
	terms  []tally
}

// tally is what is taken of a term's values.
type tally struct {
	spreadTerm
	bit    uint16   // of a violation, the first term's the highest
	taken  []int32  // of each value
	breaks []uint16 // the bit where one more of the value would violate, else 0
	least  int32    // taken of any value
	atThat int32    // how many values have so few
}

func newPicker(s *spread, order []int32) *picker {
	p := &picker{spread: s, queues: make([]queue, len(s.places)), terms: make([]tally, len(s.terms))}
	for i, place := range s.places {
		p.queues[i].place = place
	}
	p.line(order)
	for i := range p.terms {
		t, values := &p.terms[i], len(s.count[i])
		*t = tally{spreadTerm: s.terms[i], bit: 1 << (maxSpreadTerms - 1 - i), taken: make([]int32, values), breaks: make([]uint16, values), least: -1}
		if t.hard {
			t.bit = forbidden
		}
		t.rise(s.count[i])
		if lead := &p.terms[p.lead]; t.atThat > 0 && (lead.atThat == 0 || t.atThat < lead.atThat) {
			p.lead = i
		}
	}
	p.divide()
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

// divide makes the blocks.
func (p *picker) divide() {
	p.blocks = make([]block, len(p.count[p.lead])+1)
	for i := range p.blocks {
		p.blocks[i].value = int32(i)
	}
	last := len(p.blocks) - 1
	p.blocks[last].value = none
	for i := range p.queues {
		if len(p.queues[i].ids) == 0 {
			continue
		}
		b := &p.blocks[last]
		if value := p.queues[i].place[p.lead]; value != none {
			b = &p.blocks[value]
		}
		b.queues = append(b.queues, int32(i))
	}
}

func grown(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}

// take counts a cluster of the spot, and reports whether the least of the
// lead, or that of another term, has risen, so that others may violate less
// than before.
func (p *picker) take(of *spot) (leadRose, rose bool) {
	for i := range p.terms {
		if of[i] != none && p.terms[i].take(of[i], p.count[i]) {
			leadRose, rose = leadRose || i == p.lead, rose || i != p.lead
		}
	}
	return leadRose, rose
}

// take counts one more of a value, and reports whether the least rose by it.
func (t *tally) take(value int32, live []int32) bool {
	t.taken[value]++
	t.breaks[value] = t.violates(value)
	if t.taken[value] != t.least+1 {
		return false
	}
	if t.atThat--; t.atThat > 0 {
		return false
	}
	t.rise(live)
	return true
}

// rise makes the least one more, of the values that eligible clusters have.
func (t *tally) rise(live []int32) {
	t.least++
	for value, n := range t.taken {
		if n == t.least && live[value] > 0 {
			t.atThat++
		}
		t.breaks[value] = t.violates(int32(value))
	}
}

// forbidden is more than any sum of violations that are allowed.
const forbidden = 1 << maxSpreadTerms

func (t *tally) violates(value int32) uint16 {
	if t.taken[value]+1-t.least <= t.skew {
		return 0
	}
	return t.bit
}

// violation is the term's bit where one more of the value violates it, else
// 0. Who has no value violates always.
func (t *tally) violation(value int32) uint16 {
	if value == none {
		return t.bit
	}
	return t.breaks[value]
}

// violations are those of all terms but the lead.
func (p *picker) violations(of *spot) (out uint16) {
	for i := range p.terms {
		if i != p.lead {
			out |= p.terms[i].violation(of[i])
		}
	}
	return out
}
