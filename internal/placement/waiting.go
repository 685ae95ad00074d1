package placement

// waiting is a heap of what may be picked, the first in front: queues, or
// blocks of them.
type waiting []candidate

// candidate is ordered by its violations, then by the rank of its first
// cluster: the upper and the lower half of the key.
type candidate struct {
	key   uint64
	index int32
}

func keyOf(violations uint16, rank int32) uint64 { return uint64(violations)<<32 | uint64(rank) }

func (w waiting) build() {
	for i := len(w)/2 - 1; i >= 0; i-- {
		w.sink(i)
	}
}

// sink moves a candidate behind those that come before it.
func (w waiting) sink(i int) {
	c := w[i]
	for {
		next := 2*i + 1
		if next >= len(w) {
			break
		}
		if right := next + 1; right < len(w) && w[right].key < w[next].key {
			next = right
		}
		if w[next].key >= c.key {
			break
		}
		w[i], i = w[next], next
	}
	w[i] = c
}

// settle gives the first its key of now, or takes it out.
func (w *waiting) settle(key uint64, open bool) {
	all := *w
	if open {
		all[0].key = key
	} else {
		last := len(all) - 1
		all[0] = all[last]
		all = all[:last]
		*w = all
	}
	if len(all) > 0 {
		all.sink(0)
	}
}

// restart looks at every queue anew.
func (p *picker) restart() {
	for i := range p.blocks {
		b := &p.blocks[i]
		b.open = b.open[:0]
		for _, index := range b.queues {
			if key, open := p.first(index); open {
				b.open = append(b.open, candidate{key, index})
			}
		}
		b.open.build()
	}
	p.reopen()
}

// reopen looks at every block anew.
func (p *picker) reopen() {
	p.open = p.open[:0]
	for i := range p.blocks {
		if key, open := p.best(int32(i)); open {
			p.open = append(p.open, candidate{key, int32(i)})
		}
	}
	p.open.build()
}

// first is the key of a queue as the terms but the lead have it, false where
// it may not be picked from.
func (p *picker) first(index int32) (uint64, bool) {
	q := &p.queues[index]
	if len(q.ids) == 0 {
		return 0, false
	}
	v := p.violations(&q.place)
	return keyOf(v, q.ranks[0]), v < forbidden
}

// best is the key of the queue in the block that comes first now.
func (p *picker) best(index int32) (uint64, bool) {
	b := &p.blocks[index]
	for len(b.open) > 0 {
		key, open := p.first(b.open[0].index)
		if open && key == b.open[0].key {
			v := p.terms[p.lead].violation(b.value)
			return keyOf(v, 0) | key, v < forbidden
		}
		b.open.settle(key, open)
	}
	return 0, false
}

// settle gives the first block its key of now, or takes it out.
func (p *picker) settle(key uint64, open bool) { p.open.settle(key, open) }
