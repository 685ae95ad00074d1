// Package forward sends what is in the outbox to the hub: the current
// snapshot of each source to SW_METRICS, at once; superseded ones to
// SW_BACKFILL, in order and at a bounded rate, when no current one waits.
package forward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// Publisher stores an event on the bus. events.Publisher is one.
type Publisher interface {
	Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error)
}

// Options of a Forwarder.
type Options struct {
	Outbox *outbox.Store
	Bus    Publisher
	// Connected reports whether the bus is reachable right now; while it is
	// not, nothing is tried.
	Connected func() bool
	// Sources are those whose current snapshots are sent. Superseded ones
	// are sent of any source.
	Sources []outbox.Source
	// BackfillRate bounds the superseded snapshots sent in a second. Default
	// DefaultBackfillRate.
	BackfillRate float64
	// AttemptTimeout is of one attempt, and with it the bound by which an
	// age can be too low. Default 3 s.
	AttemptTimeout time.Duration
	Metrics        *Metrics
	Log            *slog.Logger
}

// Defaults and bounds.
const (
	DefaultBackfillRate   = 50
	defaultAttemptTimeout = 3 * time.Second
	// maxNewestDelay and maxBackfillDelay bound the time between attempts.
	maxNewestDelay   = 5 * time.Second
	maxBackfillDelay = 30 * time.Second
	// connectedPoll is how often a lost connection is looked at.
	connectedPoll = 20 * time.Millisecond
	// maxAge bounds the age of an event, so that readers take it: the wall
	// clock, by which that of old snapshots is measured, may be far off.
	maxAge = 365 * 24 * time.Hour
)

// Forwarder empties an outbox.
type Forwarder struct {
	Options
	limiter  *rate.Limiter
	newest   map[outbox.Source]*lane
	backfill map[outbox.Source]*lane // of the backfill goroutine alone
}

// New returns a Forwarder.
func New(o Options) *Forwarder {
	if o.BackfillRate == 0 {
		o.BackfillRate = DefaultBackfillRate
	}
	if o.AttemptTimeout == 0 {
		o.AttemptTimeout = defaultAttemptTimeout
	}
	f := &Forwarder{
		Options:  o,
		limiter:  rate.NewLimiter(rate.Limit(o.BackfillRate), 1),
		newest:   map[outbox.Source]*lane{},
		backfill: map[outbox.Source]*lane{},
	}
	for _, source := range o.Sources {
		f.newest[source] = &lane{
			name: "metric", source: source, subject: events.MetricSubject(source.Cluster, source.Name), maxDelay: maxNewestDelay, log: o.Log,
		}
	}
	return f
}

// Run forwards until ctx ends; it returns ctx's error, or events.ErrClosed.
func (f *Forwarder) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range f.newest {
		group.Go(func() error { return f.runNewest(ctx, l) })
	}
	group.Go(func() error { return f.runBackfill(ctx) })
	return group.Wait()
}

// runNewest sends the current snapshots of one source. While it waits, a
// newer one may take the place of the one it would have sent.
func (f *Forwarder) runNewest(ctx context.Context, l *lane) error {
	for {
		changed := f.Outbox.ChangedOf(l.source)
		if !f.Outbox.HasNewest(l.source) {
			if err := wait(ctx, changed, 0); err != nil {
				return err
			}
			continue
		}
		if err := f.waitConnected(ctx); err != nil {
			return err
		}
		snapshot, ok := f.Outbox.TakeNewest(l.source)
		if !ok {
			continue
		}
		if err := f.send(ctx, l, snapshot); err != nil {
			return err
		}
		if err := wait(ctx, nil, l.delay()); err != nil {
			return err
		}
	}
}

// runBackfill sends superseded snapshots, one at a time. A source that is
// refused is passed over until its delay is over.
func (f *Forwarder) runBackfill(ctx context.Context) error {
	for {
		changed := f.Outbox.Changed()
		snapshot, ok := outbox.Snapshot{}, false
		if f.Connected() && !f.newestWaits() {
			snapshot, ok = f.Outbox.TakeSuperseded(f.passedOver)
		}
		if !ok {
			if err := wait(ctx, changed, time.Second); err != nil {
				return err
			}
			continue
		}
		if err := f.limiter.Wait(ctx); err != nil {
			f.Outbox.Release(snapshot)
			return err
		}
		l := f.backfillLane(snapshot.Source)
		if err := f.send(ctx, l, snapshot); err != nil {
			return err
		}
		l.notBefore = time.Now().Add(l.delay())
	}
}

// newestWaits reports whether the current snapshot of a source is still to
// be sent. A source that is refused again and again keeps nobody waiting.
func (f *Forwarder) newestWaits() bool {
	for source, l := range f.newest {
		if f.Outbox.HasNewest(source) && l.failed.Load() < patience {
			return true
		}
	}
	return false
}

func (f *Forwarder) passedOver(source outbox.Source) bool {
	l := f.backfill[source]
	return l != nil && time.Now().Before(l.notBefore)
}

func (f *Forwarder) backfillLane(source outbox.Source) *lane {
	l := f.backfill[source]
	if l == nil {
		l = &lane{
			name: "backfill", source: source, subject: events.BackfillSubject(source.Cluster, source.Name), maxDelay: maxBackfillDelay, log: f.Log,
		}
		f.backfill[source] = l
	}
	return l
}

// send makes one attempt. It returns an error only if there is no point in
// going on.
func (f *Forwarder) send(ctx context.Context, l *lane, snapshot outbox.Snapshot) error {
	attempt, cancel := context.WithTimeout(ctx, f.AttemptTimeout)
	defer cancel()
	age := min(max(time.Since(snapshot.Taken), 0), maxAge)
	snapshot.Event.SetExtension(events.ExtAge, strconv.FormatInt(int64((age+time.Millisecond-1)/time.Millisecond), 10))
	options := []events.PublishOption{events.WithMessageID(snapshot.MessageID)}
	if snapshot.Sequence == l.last || !snapshot.Fresh {
		options = append(options, events.Repeated())
	}
	l.last = snapshot.Sequence
	_, err := f.Bus.Publish(attempt, l.subject, snapshot.Event, options...)
	switch {
	case err == nil:
		l.succeeded()
		f.Metrics.sent(l, time.Since(snapshot.Taken))
		return f.done(snapshot)
	case ctx.Err() != nil || errors.Is(err, events.ErrClosed):
		f.Outbox.Release(snapshot)
		return fmt.Errorf("forward: %w", err)
	case hopeless(err):
		f.Metrics.failed(l, err)
		f.Log.Error("a snapshot is dropped: the bus will never take it",
			"source", l.source.Name, "subject", l.subject, "sequence", snapshot.Sequence, "bytes", len(snapshot.Event.Data()), "error", err)
		return f.done(snapshot)
	}
	// Only what happened while there was a connection is held against the
	// source.
	l.refused(err, f.Connected())
	f.Metrics.failed(l, err)
	f.Outbox.Release(snapshot)
	return nil
}

func (f *Forwarder) done(snapshot outbox.Snapshot) error {
	err := f.Outbox.Done(snapshot)
	if err != nil && !errors.Is(err, outbox.ErrClosed) {
		f.Log.Error("the outbox cannot forget a snapshot: it will be sent again after a restart", "error", err)
		return nil
	}
	return err
}

// hopeless reports whether no retry can help.
func hopeless(err error) bool {
	return errors.Is(err, events.ErrTooLarge) || errors.Is(err, events.ErrBadSubject)
}
