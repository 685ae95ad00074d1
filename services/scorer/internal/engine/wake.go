package engine

import (
	"container/heap"
	"time"
)

// wakes is a heap of the pairs that time will change, soonest first.
type wakes []*pair

func (w wakes) Len() int           { return len(w) }
func (w wakes) Less(i, j int) bool { return w[i].wake.Before(w[j].wake) }

func (w wakes) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].slot, w[j].slot = i+1, j+1
}

// Push is for package heap.
func (w *wakes) Push(x any) {
	p := x.(*pair)
	*w = append(*w, p)
	p.slot = len(*w)
}

// Pop is for package heap.
func (w *wakes) Pop() any {
	last := len(*w) - 1
	p := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	p.slot = 0
	return p
}

// wakeAt makes p dirty at a server time; the zero time for never.
func (e *Engine) wakeAt(p *pair, at time.Time) {
	p.wake = at
	switch {
	case at.IsZero() && p.slot == 0:
	case at.IsZero():
		heap.Remove(&e.wakes, p.slot-1)
	case p.slot == 0:
		heap.Push(&e.wakes, p)
	default:
		heap.Fix(&e.wakes, p.slot-1)
	}
}

// wakeDue makes the pairs dirty whose time has come, and reports whether
// there were any.
func (e *Engine) wakeDue(now time.Time) bool {
	due := false
	for len(e.wakes) > 0 && !e.wakes[0].wake.After(now) {
		p := heap.Pop(&e.wakes).(*pair)
		p.wake = time.Time{}
		e.line.Push(p)
		due = true
	}
	return due
}
