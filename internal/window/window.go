package window

import (
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/series"
)

// MaxEvents is how many events of a source a window reaches back at most: as
// many as the bus keeps of a subject, so that one who begins now can read
// what one who ran on knows.
const MaxEvents = 64

// Event is one snapshot of a source.
type Event struct {
	// Sequence is its place in the log.
	Sequence uint64
	// ObservedAt is when it was current, in server time.
	ObservedAt time.Time
	// Samples come from [series.NewSamples].
	Samples []series.Sample
	// Unreadable events say nothing. They count all the same, for the log
	// keeps them in the place of others.
	Unreadable bool
}

// Window is the recent past of one source. It is for one goroutine.
type Window struct {
	selection *Selection
	// since: all events that the log received from then on were appended.
	since  time.Time
	events []event   // oldest first
	values []float64 // those of the events, one event after the other
	closed bool
}

// event is one in a Window. Of those with a shape, each is later than the one
// before it.
type event struct {
	sequence uint64
	observed int64  // in Unix nanoseconds
	shape    *shape // nil where it counts for nothing
}

// shape is which series an event has. Events that have the same share it.
type shape struct {
	series []series.Series // sorted
	over   []string        // metrics with more than MaxSeries
}

func (s *shape) len() int {
	if s == nil {
		return 0
	}
	return len(s.series)
}

// New returns a window of what s selects, to which the events are to be
// appended that the log receives from since on.
func New(s *Selection, since time.Time) *Window { return &Window{selection: s, since: since} }

// Adopt has w follow s from now on, if it holds all that s selects, and
// reports whether it does. If not, a new window is wanted.
func (w *Window) Adopt(s *Selection) bool {
	if w.selection != s {
		if !s.Within(w.selection) {
			return false
		}
		w.selection = s
	}
	return true
}

// Append takes the next event of the source.
//
// One that was observed no later than others before it takes their place: the
// order of the log decides, not the clock.
func (w *Window) Append(e Event) {
	if w.closed {
		return
	}
	next := event{sequence: e.Sequence, observed: e.ObservedAt.UnixNano()}
	var few [16]series.Sample
	var picked []series.Sample
	if !e.Unreadable {
		var over []string
		picked, over = w.selection.pick(few[:0], e.Samples)
		w.supersede(next.observed)
		next.shape = w.shapeOf(picked, over)
	}
	w.push(next)
	for _, sample := range picked {
		w.values = append(w.values, sample.Value)
	}
}

// supersede has the events count for nothing that were observed then or
// later. They are the last ones that count.
func (w *Window) supersede(observed int64) {
	for i := len(w.events) - 1; i >= 0; i-- {
		switch e := &w.events[i]; {
		case e.shape == nil:
		case e.observed < observed:
			return
		default:
			w.values = w.values[:len(w.values)-e.shape.len()]
			e.shape = nil
		}
	}
}

// push makes room, and appends e.
func (w *Window) push(e event) {
	if len(w.events) == MaxEvents {
		gone := w.events[0].shape.len()
		w.events = w.events[:copy(w.events, w.events[1:])]
		w.values = w.values[:copy(w.values, w.values[gone:])]
	}
	w.events = grow(w.events, 1, 1)
	w.events = append(w.events, e)
	w.values = grow(w.values, e.shape.len(), e.shape.len())
}

// grow makes room for n more, in steps that end at what MaxEvents events take
// that have each of them so many.
func grow[T any](s []T, n, each int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	size := max(len(s)+n, 8*each)
	if full := MaxEvents * each; size <= full {
		size = min(full, max(size, 2*cap(s)))
	}
	return append(make([]T, 0, size), s...)
}

// shapeOf returns that of the last event if it is the same.
func (w *Window) shapeOf(picked []series.Sample, over []string) *shape {
	last := w.last()
	if last != nil && len(last.shape.series) == len(picked) && slices.Equal(last.shape.over, over) {
		same := true
		for i := range picked {
			same = same && last.shape.series[i] == picked[i].Series
		}
		if same {
			return last.shape
		}
	}
	s := &shape{series: make([]series.Series, len(picked)), over: over}
	for i := range picked {
		s.series[i] = picked[i].Series
	}
	return s
}

// last is the last event that counts, nil where there is none.
func (w *Window) last() *event {
	for i := len(w.events) - 1; i >= 0; i-- {
		if w.events[i].shape != nil {
			return &w.events[i]
		}
	}
	return nil
}

// Restore puts what was read of the log later, past, before the events of w
// that come after it. Both must select the same.
func (w *Window) Restore(past *Window) {
	if w.closed || past.closed {
		w.Close()
		return
	}
	if len(past.events) == 0 {
		w.since = past.since
		return
	}
	read := past.events[len(past.events)-1].sequence
	at := 0
	for _, e := range w.events {
		values := w.values[at : at+e.shape.len()]
		at += e.shape.len()
		if e.sequence <= read {
			continue
		}
		if e.shape != nil {
			past.supersede(e.observed)
		}
		past.push(e)
		past.values = append(past.values, values...)
	}
	w.since, w.events, w.values = past.since, past.events, past.values
}

// Reaches reports whether w holds all that there is of a window of so much.
func (w *Window) Reaches(length time.Duration) bool {
	last := w.last()
	return w.closed || last == nil || len(w.events) == MaxEvents || !w.since.After(time.Unix(0, last.observed).Add(-length))
}

// Point is one value of a series.
type Point struct {
	// Sequence and At say in which event it stands, and when that was
	// current.
	Sequence uint64
	At       time.Time
	Value    float64
}

// Points appends the values of a series, oldest first, that are less old than
// length when the last event is current. What the source did not have in
// between is left out.
func (w *Window) Points(to []Point, of series.Series, length time.Duration) []Point {
	last := w.last()
	if last == nil {
		return to
	}
	from := last.observed - int64(length)
	var found *shape // in which the series stands at place
	place, at := -1, 0
	for i := range w.events {
		e := &w.events[i]
		if e.shape == nil {
			continue
		}
		if e.observed > from {
			if e.shape != found {
				found, place = e.shape, e.shape.find(of)
			}
			if place >= 0 {
				to = append(to, Point{Sequence: e.sequence, At: time.Unix(0, e.observed).UTC(), Value: w.values[at+place]})
			}
		}
		at += len(e.shape.series)
	}
	return to
}

// find returns where the series stands, -1 if it does not.
func (s *shape) find(of series.Series) int {
	at, found := slices.BinarySearchFunc(s.series, of, series.Compare)
	if !found {
		return -1
	}
	return at
}

// Over reports whether the source has too many series of a metric now.
func (w *Window) Over(metric string) bool {
	last := w.last()
	return last != nil && slices.Contains(last.shape.over, metric)
}

// Close has w hold nothing from now on, for lack of memory.
func (w *Window) Close() { *w = Window{selection: w.selection, since: w.since, closed: true} }

// Closed reports whether Close was called.
func (w *Window) Closed() bool { return w.closed }

// Size is about how many bytes w takes.
func (w *Window) Size() int64 {
	const (
		perWindow = 200 // with what an allocation takes
		perEvent  = 24
		perShape  = 64
	)
	size := perWindow + perEvent*cap(w.events) + 8*cap(w.values)
	var before *shape
	for i := range w.events {
		if s := w.events[i].shape; s != nil && s != before {
			before = s
			size += perShape + 8*len(s.series)
		}
	}
	return int64(size)
}
