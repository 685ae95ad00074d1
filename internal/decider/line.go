package decider

import (
	"math/rand/v2"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// Turn is where an item stands that is decided again and again. It is
// embedded in what is put in a Line.
type Turn struct {
	queued, away, again bool
	// Failures are those to publish it, since the last success.
	Failures int
	since    time.Time // it waits, in server time
}

func (t *Turn) turn() *Turn { return t }

// Idle reports whether the item is in no line and not away.
func (t *Turn) Idle() bool { return !t.queued && !t.away }

// Retry counts a failure and returns when to try again.
func (t *Turn) Retry(now time.Time) time.Time {
	t.Failures++
	delay := events.RetryDelay(t.Failures)
	return now.Add(delay/2 + rand.N(delay/2))
}

// Item is a pointer to a struct with a Turn.
type Item interface{ turn() *Turn }

// Line is a first-in-first-out queue in which each item stands once. One
// that is put in line while its event is on its way has its turn when the
// outcome is known, so each is decided once for all that came meanwhile.
type Line[T Item] struct {
	items []T
	head  int
	held  []T
}

// Len is how many items are in line and not held.
func (l *Line[T]) Len() int { return len(l.items) - l.head }

// Push puts x in line.
func (l *Line[T]) Push(x T) {
	switch t := x.turn(); {
	case t.away:
		t.again = true
	case !t.queued:
		t.queued = true
		l.items = append(l.items, x)
	}
}

// Pop takes the first out of the line.
func (l *Line[T]) Pop() (x T, ok bool) {
	if l.head == len(l.items) {
		l.items, l.head = l.items[:0], 0
		return x, false
	}
	var none T
	x, l.items[l.head] = l.items[l.head], none
	l.head++
	if l.head > 1024 && l.head*2 > len(l.items) {
		left := copy(l.items, l.items[l.head:])
		clear(l.items[left:])
		l.items, l.head = l.items[:left], 0
	}
	x.turn().queued = false
	return x, true
}

// Hold puts x aside until Release.
func (l *Line[T]) Hold(x T) {
	x.turn().queued = true
	l.held = append(l.held, x)
}

// Release puts what is held in line again.
func (l *Line[T]) Release() {
	l.items = append(l.items, l.held...)
	clear(l.held)
	l.held = l.held[:0]
}

// Away notes that x's event is on its way.
func (l *Line[T]) Away(x T) { x.turn().away = true }

// Back notes that the outcome is known.
func (l *Line[T]) Back(x T) {
	t := x.turn()
	t.away = false
	if t.again {
		t.again = false
		l.Push(x)
	}
}
