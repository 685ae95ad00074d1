package decider

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/pkg/events"
)

const (
	maxBurials    = 4096
	burialWorkers = 8
	// overflowPeriod is how often the log tells of an overflow at most.
	overflowPeriod = 10 * time.Second
)

// Burials writes dead letters beside the loop, so that bad input does not
// hold up the good. A letter that the bus does not take is tried again until
// it does. Where letters come faster than they can be kept, the rest is
// counted and dropped, and the log says so.
type Burials struct {
	bus      events.Keeper
	log      *slog.Logger
	service  string
	counts   *Counts
	queue    chan burial
	overflow overflow
}

type burial struct {
	message  events.Message
	cause    error
	failures int
}

// NewBurials returns a Burials for service. It writes while it Runs.
func NewBurials(bus events.Keeper, log *slog.Logger, service string, counts *Counts) *Burials {
	return &Burials{bus: bus, log: log, service: service, counts: counts, queue: make(chan burial, maxBurials)}
}

// Bury has m kept with the cause, without waiting for it.
func (b *Burials) Bury(m events.Message, cause error) {
	b.count(cause)
	select {
	case b.queue <- burial{message: m, cause: cause}:
	default:
		b.counts.DeadDropped.Inc()
		if dropped, tell := b.overflow.drop(time.Now()); tell {
			b.log.Error("dead letters come faster than they can be kept, the rest is dropped", "dropped", dropped, "stream", m.Stream, "subject", m.Subject)
		}
	}
}

// buryInTurn is Bury for those who can wait until there is room.
func (b *Burials) buryInTurn(ctx context.Context, m events.Message, cause error) error {
	b.count(cause)
	select {
	case b.queue <- burial{message: m, cause: cause}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *Burials) count(cause error) {
	reason := "Failed"
	var bad *events.BadInput
	if errors.As(cause, &bad) {
		reason = bad.Reason
	}
	b.counts.Dead.WithLabelValues(reason).Inc()
}

// Run writes until ctx ends, and returns its error then.
func (b *Burials) Run(ctx context.Context) error {
	var group errgroup.Group
	for range burialWorkers {
		group.Go(func() error {
			for {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case d := <-b.queue:
					b.keep(ctx, d)
				}
			}
		})
	}
	return group.Wait()
}

// keep writes d. Where that fails, d goes to the end of the queue after a
// while, or, if that is full, is tried again at once.
func (b *Burials) keep(ctx context.Context, d burial) {
	for {
		err := b.write(ctx, d)
		switch {
		case err == nil, ctx.Err() != nil:
			return
		case refused(err):
			b.counts.DeadDropped.Inc()
			b.log.Error("dead letter cannot be written", "stream", d.message.Stream, "sequence", d.message.Sequence, "error", err)
			return
		case d.failures == 0:
			b.log.Warn("dead letter was not written, trying again", "stream", d.message.Stream, "sequence", d.message.Sequence, "error", err)
		}
		d.failures++
		if !pause.For(ctx, jittered(events.RetryDelay(d.failures))) {
			return
		}
		select {
		case b.queue <- d:
			return
		default:
		}
	}
}

func (b *Burials) write(ctx context.Context, d burial) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	return events.Bury(ctx, b.bus, b.service, d.message, d.cause)
}

// jittered returns half of delay to all of it.
func jittered(delay time.Duration) time.Duration { return delay/2 + rand.N(delay/2) }

// overflow counts what is dropped, to be told now and then.
type overflow struct {
	dropped atomic.Int64 // since it was told
	told    atomic.Int64 // in Unix nanoseconds
}

// drop counts one more, and returns how many to tell of, if it is time.
func (o *overflow) drop(now time.Time) (dropped int64, tell bool) {
	o.dropped.Add(1)
	last := o.told.Load()
	if now.UnixNano()-last < int64(overflowPeriod) || !o.told.CompareAndSwap(last, now.UnixNano()) {
		return 0, false
	}
	return o.dropped.Swap(0), true
}
