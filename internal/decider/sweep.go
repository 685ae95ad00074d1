package decider

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/pkg/events"
)

const (
	// maxGap bounds how far back is looked for what was overtaken.
	maxGap = 5 * time.Minute
	// sweepOverlap is how much of what was read before is looked at again:
	// what its reader had no time to keep, and what stands there by the clock
	// of another server.
	sweepOverlap = 2 * time.Second
	// calm is how long the reading has been in step before a sweep: a decider
	// that cannot keep up has better things to do.
	calm = time.Second
)

// sweeper looks at what was overtaken while nobody read. A watch that begins
// anew has the last event of each subject; nothing is decided from those
// before it any more, but one that cannot be read is kept all the same.
type sweeper struct {
	bus     events.Watcher
	burials *Burials
	clock   *events.Clock
	own     string // the stream that the decider publishes to
	watches []events.Watch
	streams map[string]*sweep
}

// sweep is how far a stream was followed.
type sweep struct {
	newest time.Time                 // of what was read
	behind time.Time                 // newest when the watch fell behind, zero while it is in step
	inStep atomic.Pointer[time.Time] // since when, by this machine's clock; nil while behind
	// gaps holds the time from which on to sweep, at most one, the earliest.
	gaps chan time.Time
}

func newSweeper(bus events.Watcher, burials *Burials, clock *events.Clock, spec Spec) *sweeper {
	s := &sweeper{bus: bus, burials: burials, clock: clock, own: spec.Stream, watches: spec.Watches, streams: map[string]*sweep{}}
	for _, w := range spec.Watches {
		s.streams[w.Stream] = &sweep{gaps: make(chan time.Time, 1)}
	}
	return s
}

// note follows the loop's own reading, and asks for a sweep after each gap.
func (s *sweeper) note(u events.Update) {
	w := s.streams[u.Message.Stream]
	switch {
	case w == nil:
	case u.Kind == events.Stored && u.Message.ReceivedAt.After(w.newest):
		w.newest = u.Message.ReceivedAt
	case u.Kind == events.Behind:
		w.fallBehind()
	case u.Kind == events.Synced:
		now := time.Now()
		w.inStep.Store(&now)
		if !w.behind.IsZero() {
			w.ask(w.behind)
			w.behind = time.Time{}
		}
	}
}

func (w *sweep) fallBehind() {
	w.inStep.Store(nil)
	if w.behind.IsZero() {
		w.behind = w.newest
	}
}

// begin follows the first reading. Whoever published last on behalf of this
// service had read all until then; if nobody has, nobody was away.
func (s *sweeper) begin() {
	last := s.streams[s.own]
	if last == nil || last.newest.IsZero() {
		return
	}
	from := last.newest
	for _, w := range s.streams {
		w.ask(from)
	}
}

// ask is called by the loop only, so there is room in the end.
func (w *sweep) ask(from time.Time) { w.gaps <- w.earliest(from) }

// earliest is from, or what was asked for before and not begun.
func (w *sweep) earliest(from time.Time) time.Time {
	select {
	case asked := <-w.gaps:
		if asked.Before(from) {
			return asked
		}
	default:
	}
	return from
}

// wait returns once the reading is calm, or ctx's error.
func (w *sweep) wait(ctx context.Context) error {
	for {
		since := w.inStep.Load()
		if since != nil && time.Since(*since) >= calm {
			return nil
		}
		if !pause.For(ctx, jittered(calm)) {
			return ctx.Err()
		}
	}
}

// run sweeps until ctx ends, and returns its error then.
func (s *sweeper) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, watch := range s.watches {
		group.Go(func() error { return s.follow(ctx, watch) })
	}
	return group.Wait()
}

// follow sweeps one stream.
func (s *sweeper) follow(ctx context.Context, watch events.Watch) error {
	w := s.streams[watch.Stream]
	for {
		select {
		case from := <-w.gaps:
			if err := w.wait(ctx); err != nil {
				return err
			}
			if err := s.sweep(ctx, watch, w.earliest(from)); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errSwept ends the watch of a sweep.
var errSwept = errors.New("swept")

// sweep reads all events since from and keeps those that cannot be read.
func (s *sweeper) sweep(ctx context.Context, w events.Watch, from time.Time) error {
	if earliest := s.clock.Now().Add(-maxGap); from.Before(earliest) {
		s.burials.log.Warn("events were overtaken too long ago to look for those that cannot be read", "stream", w.Stream, "from", from, "until", earliest)
		from = earliest
	}
	w.Since = from.Add(-sweepOverlap)
	err := s.bus.Watch(ctx, w, func(u events.Update) error {
		switch u.Kind {
		case events.Synced:
			return errSwept
		case events.Stored:
			if _, err := events.Read(u.Message); err != nil {
				return s.burials.buryInTurn(ctx, u.Message, err)
			}
		}
		return nil
	})
	if errors.Is(err, errSwept) {
		return nil
	}
	return err
}
