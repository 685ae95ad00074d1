package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// historian reads the past of metrics from the log, beside the loop. One
// reading is under way at a time; a newer wish ends it.
type historian struct {
	bus   events.Watcher
	limit int64 // of what is held, in bytes
	// wishes holds the newest wish that is not begun.
	wishes chan wish
}

// wish is for the windows of a selection, of all events since a time.
type wish struct {
	round     uint64
	selection *window.Selection
	since     time.Time
}

// readPast is what the log held.
type readPast struct {
	wish
	windows map[string]*window.Window // by subject
	// last is the sequence of the last event read.
	last uint64
}

// ask replaces the newest wish. It is for one goroutine.
func (h *historian) ask(w wish) {
	select {
	case <-h.wishes:
	default:
	}
	h.wishes <- w
}

// run reads what is wished for until ctx ends, and hands it to done.
func (h *historian) run(ctx context.Context, done func(*readPast)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case w := <-h.wishes:
			switch past, err := h.read(ctx, w); {
			case err == nil:
				done(past)
			case !errors.Is(err, errOutdated):
				return err // ctx's: a watch goes on after everything else
			}
		}
	}
}

var (
	errRead     = errors.New("read")
	errOutdated = errors.New("something else is wished for")
)

func (h *historian) read(ctx context.Context, w wish) (*readPast, error) {
	past := &readPast{wish: w, windows: map[string]*window.Window{}}
	room := budget{limit: h.limit}
	err := h.bus.Watch(ctx, events.Watch{Stream: events.StreamMetrics, Since: w.since}, func(u events.Update) error {
		switch {
		case len(h.wishes) > 0:
			return errOutdated
		case u.Kind == events.Synced:
			return errRead
		case u.Kind == events.Stored:
			past.take(&room, u.Message)
		}
		return nil
	})
	if errors.Is(err, errRead) {
		err = nil
	}
	return past, err
}

func (p *readPast) take(room *budget, m events.Message) {
	p.last = max(p.last, m.Sequence)
	received, err := events.Read(m)
	w := p.windows[m.Subject]
	if w == nil {
		if err != nil {
			return // it stands before all that is readable
		}
		w = window.New(p.selection, p.since)
		p.windows[m.Subject] = w
	}
	room.append(w, eventOf(&received, m.Sequence, err))
}

// eventOf is an event as windows take it.
func eventOf(r *events.Received, sequence uint64, refused error) window.Event {
	m, isMetrics := r.Payload.(*schemas.Metrics)
	if refused != nil || !isMetrics {
		return window.Event{Sequence: sequence, Unreadable: true}
	}
	return window.Event{Sequence: sequence, ObservedAt: r.ObservedAt, Samples: series.NewSamples(m.Samples)}
}

// budget bounds what windows take in all.
type budget struct{ limit, used int64 }

// append takes an event into w, or closes w where there is no room.
func (b *budget) append(w *window.Window, e window.Event) {
	before := w.Size()
	w.Append(e)
	b.used += w.Size() - before
	if b.used > b.limit && !w.Closed() {
		before = w.Size()
		w.Close()
		b.used += w.Size() - before
	}
}
