package decider

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/pkg/events"
)

// Loop runs a Decider. But for Run and Ready, its methods are for the
// goroutine that calls the Decider.
type Loop[T Content] struct {
	*Burials
	Publisher[T]
	Positions
	Counts *Counts
	Log    *slog.Logger

	decider Decider[T]
	spec    Spec
	bus     Bus
	clock   *events.Clock
	sweeper *sweeper

	synced   bool
	syncedAt time.Time // zero before the first time
	ready    atomic.Bool
}

// New returns a Loop for d.
func New[T Content](c Config, s Spec, d Decider[T]) (*Loop[T], error) {
	r := NewRegistry(cmp.Or(s.Metrics, s.Service), c.Metrics)
	counts := newCounts(r)
	if err := r.Err(); err != nil {
		return nil, err
	}
	burials, clock := NewBurials(c.Bus, c.Log, s.Service, counts), events.NewClock(nil)
	return &Loop[T]{
		Burials:   burials,
		Publisher: newPublisher[T](c, s),
		Positions: Positions{},
		Counts:    counts,
		decider:   d,
		spec:      s,
		bus:       c.Bus,
		Log:       c.Log,
		clock:     clock,
		sweeper:   newSweeper(c.Bus, burials, clock, s),
	}, nil
}

// Ready returns nil while the snapshot is complete and followed.
func (l *Loop[T]) Ready() error {
	if !l.ready.Load() {
		return errors.New("the streams are being read")
	}
	return nil
}

// Now is the current server time.
func (l *Loop[T]) Now() time.Time { return l.clock.Now() }

// Synced reports whether the snapshot is complete and followed.
func (l *Loop[T]) Synced() bool { return l.synced }

// SyncedAt is when the streams were last read in full, in server time.
func (l *Loop[T]) SyncedAt() time.Time { return l.syncedAt }

// Run decides until ctx ends, and returns its error then.
func (l *Loop[T]) Run(ctx context.Context) error {
	defer l.ready.Store(false)
	batches := make(chan events.Batch)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return events.Feed(ctx, reading{l.bus, l.spec.Readable}, l.spec.Watches, func(b events.Batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error { return l.Burials.Run(ctx) })
	group.Go(func() error { return l.sweeper.run(ctx) })
	group.Go(func() error { return l.loop(ctx, batches) })
	return group.Wait()
}

func (l *Loop[T]) loop(ctx context.Context, batches <-chan events.Batch) error {
	defer l.running.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.leap()
		timer.Reset(l.pause(l.decide(ctx)))
		select {
		case b := <-batches:
			l.Take(ctx, b)
		case out := <-l.results:
			l.settle(out)
			l.settleAll()
		case note := <-l.spec.Inbox:
			note()
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decide waits while server time seems to have gone back: what comes in then
// looks as if it were long expired.
func (l *Loop[T]) decide(ctx context.Context) time.Time {
	if by, _ := l.clock.Leap(); !l.synced || by < 0 {
		return time.Time{}
	}
	return l.decider.Decide(ctx)
}

// pause is how long there is nothing to do unless something happens.
func (l *Loop[T]) pause(next time.Time) time.Duration {
	pause := time.Hour
	if !next.IsZero() {
		pause = min(pause, next.Sub(l.Now()))
	}
	if by, left := l.clock.Leap(); by != 0 {
		pause = min(pause, left)
	}
	return max(time.Millisecond, pause)
}

// Take folds a batch, and decides in between.
func (l *Loop[T]) Take(ctx context.Context, b events.Batch) {
	for chunk := range slices.Chunk(b.Updates, l.spec.MaxFold) {
		for _, u := range chunk {
			l.fold(u)
		}
		if b.Synced && l.synced {
			l.settleAll()
			l.decide(ctx)
		}
	}
	if b.Synced && !l.synced {
		l.synced = true
		l.ready.Store(true)
		l.Log.Info("streams are read")
		l.begin()
	}
}

func (l *Loop[T]) fold(u events.Update) {
	l.observe(u)
	l.take(u)
	l.sweeper.note(u)
	switch u.Kind {
	case events.Behind:
		if l.synced {
			l.Log.Info("behind the streams, deciding waits until they are read again")
		}
		l.synced = false
		l.ready.Store(false)
	case events.Stored:
		l.Counts.Folded.WithLabelValues(u.Message.Stream).Inc()
	}
	l.decider.Fold(u)
}

func (l *Loop[T]) begin() {
	if l.syncedAt.IsZero() {
		l.sweeper.begin()
	}
	l.syncedAt = l.Now()
	l.decider.Begin()
}

// observe takes note of server time. The first reading only catches up.
func (l *Loop[T]) observe(u events.Update) {
	switch at := u.Message.ReceivedAt; {
	case at.IsZero():
	case l.syncedAt.IsZero():
		l.clock.Observe(at)
	default:
		if by := l.clock.Follow(at, l.synced || u.Kind == events.Synced); by != 0 {
			l.Counts.Jumps.Inc()
			l.Log.Error("server time leapt, which is waited out", "by", by, "hold", events.LeapHold)
		}
	}
}

func (l *Loop[T]) leap() {
	if by := l.clock.Settle(); by != 0 {
		l.Log.Warn("the leap of server time is taken over", "by", by)
		if l.synced {
			l.begin()
		}
	}
}

// Await settles one job, and waits for it.
func (l *Loop[T]) Await() { l.settle(<-l.results) }

// settleAll settles all that is done, without waiting.
func (l *Loop[T]) settleAll() {
	for {
		select {
		case out := <-l.results:
			l.settle(out)
		default:
			return
		}
	}
}

func (l *Loop[T]) settle(out Outcome[T]) {
	l.inFlight--
	switch out.Verdict() {
	case Stored:
		if out.Trigger != nil {
			l.Counts.Lag.Observe(max(0, l.Now().Sub(out.Trigger.Origin.ReceivedAt)).Seconds())
		}
	case Refused:
		l.Counts.Failures.Inc()
		l.Log.Error("event cannot be published", "subject", out.Subject, "error", out.Err)
	case Outrun:
		l.Counts.Conflicts.Inc()
	case Failed:
		l.Counts.Failures.Inc()
		l.Log.Warn("event was not published, trying again", "subject", out.Subject, "error", out.Err)
	}
	l.decider.Settle(&out)
}
