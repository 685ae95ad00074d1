package engine

import "time"

// wakeAt makes p dirty at a server time; the zero time for never.
func (e *Engine) wakeAt(p *pair, at time.Time) { e.wakes.Set(p, at) }

// wakeDue makes the pairs dirty whose time has come, and reports whether
// there were any.
func (e *Engine) wakeDue(now time.Time) bool {
	due := false
	for p, ok := e.wakes.Due(now); ok; p, ok = e.wakes.Due(now) {
		e.line.Push(p)
		due = true
	}
	return due
}
