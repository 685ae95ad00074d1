package engine

// queue is a first-in-first-out queue of pairs.
type queue struct {
	pairs []*pair
	head  int
}

func (q *queue) len() int { return len(q.pairs) - q.head }

func (q *queue) push(p *pair) { q.pairs = append(q.pairs, p) }

// pop returns nil where the queue is empty.
func (q *queue) pop() *pair {
	if q.head == len(q.pairs) {
		q.pairs, q.head = q.pairs[:0], 0
		return nil
	}
	p := q.pairs[q.head]
	q.pairs[q.head] = nil
	q.head++
	if q.head > 1024 && q.head*2 > len(q.pairs) {
		q.pairs, q.head = append(q.pairs[:0], q.pairs[q.head:]...), 0
	}
	return p
}
