package engine

import (
	"time"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/events"
)

// MaxWindowBytes bounds what is kept of the past in all. Where it is reached
// there are sources whose past is not kept, and scores of them say so.
const MaxWindowBytes = 256 << 20

// clockMargin is how much further back the log is read, for server time is
// only known by and by.
const clockMargin = time.Minute

// past is what is kept of the past of metrics, for scorers that look back.
// It follows from the log alone, so that a replica that begins now scores as
// one that ran on: the windows are read from the log whenever the streams
// were read anew or something else is looked back at, and grow by each event
// from then on. What is missing in between comes with what was read, once the
// loop has followed as far.
type past struct {
	selection *window.Selection // nil where nobody looks back
	// reach is how far back the log is read.
	reach time.Duration
	round uint64 // of reading
	// read waits until the loop has come as far as the reading.
	read *readPast
	// ready is whether the windows are complete, of all events since a time.
	ready bool
	since time.Time
	room  budget
}

// lookBack works out what scorers look back at, after one has changed.
func (e *Engine) lookBack() {
	var asks []window.Ask
	var reach time.Duration
	for _, s := range e.scorers {
		if s.program == nil {
			continue
		}
		for _, ask := range s.program.Asks() {
			asks = append(asks, ask)
			reach = max(reach, ask.Length+s.program.ValidFor())
		}
	}
	p := &e.past
	var next *window.Selection
	if len(asks) > 0 {
		next = window.Select(asks)
	}
	if same(p.selection, next) && reach <= p.reach {
		return
	}
	p.selection, p.reach = next, reach
	if e.Synced() {
		e.readPast()
	}
}

// same reports whether two selections are of the same series. What is in a
// window depends on all that is asked for, if only where it is too much.
func same(a, b *window.Selection) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Within(b) && b.Within(a)
}

// readPast has the windows read from the log.
func (e *Engine) readPast() {
	p := &e.past
	p.round++
	p.read, p.ready, p.room.used = nil, false, 0
	for _, c := range e.clusters {
		for _, src := range c.Sources {
			src.Past = e.newWindow()
		}
	}
	if p.selection != nil {
		e.historian.ask(wish{round: p.round, selection: p.selection, since: e.Now().Add(-p.reach - clockMargin)})
	}
}

// newWindow is of a source of which no event was folded, nil where nobody
// looks back. Once the log was read, it has none of before either.
func (e *Engine) newWindow() *window.Window {
	p := &e.past
	switch {
	case p.selection == nil:
		return nil
	case p.ready:
		return window.New(p.selection, p.since)
	}
	return window.New(p.selection, e.Now())
}

// remember takes the newest event of a source into its window.
func (e *Engine) remember(src *score.Source) {
	if e.past.selection == nil {
		return
	}
	if src.Past == nil {
		src.Past = e.newWindow()
	}
	e.past.room.append(src.Past, window.Event{Sequence: src.Sequence, ObservedAt: src.ObservedAt, Samples: src.Samples})
}

// skip takes note of an event that cannot be read: the log keeps it in the
// place of another.
func (e *Engine) skip(subject events.Subject, sequence uint64) {
	c := e.clusters[subject.Cluster]
	if e.past.selection == nil || c == nil {
		return
	}
	if at, found := c.source(subject.Name); found && c.Sources[at].Past != nil {
		e.past.room.append(c.Sources[at].Past, window.Event{Sequence: sequence, Unreadable: true})
	}
}

// takePast keeps what was read until it can be joined in.
func (e *Engine) takePast(read *readPast) {
	if read.round == e.past.round {
		e.past.read = read
	}
}

// joinPast completes the windows once the loop has folded all that was read.
func (e *Engine) joinPast() {
	p := &e.past
	if p.read == nil || !e.Covers(events.StreamMetrics, p.read.last) {
		return
	}
	for _, c := range e.clusters {
		for _, src := range c.Sources {
			before := p.read.windows[src.Subject]
			if before == nil {
				before = window.New(p.selection, p.read.since)
			}
			src.Past.Restore(before)
		}
	}
	p.read, p.ready, p.since = nil, true, p.read.since
	e.measure()
	for _, s := range e.scorers {
		if s.program != nil && len(s.program.Asks()) > 0 {
			for _, c := range e.clusters {
				e.mark(c, s, nil)
			}
		}
	}
}

// measure adds up anew what the windows take.
func (e *Engine) measure() {
	e.past.room.used = 0
	for _, c := range e.clusters {
		for _, src := range c.Sources {
			if src.Past != nil {
				e.past.room.used += src.Past.Size()
			}
		}
	}
}

// waits reports whether a scorer looks back at what is not read yet.
func (e *Engine) waits(s *scorer) bool { return !e.past.ready && len(s.program.Asks()) > 0 }
