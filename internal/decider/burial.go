package decider

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/pkg/events"
)

const (
	maxBurials    = 4096
	burialWorkers = 8
)

// Burials writes dead letters beside the loop, so that bad input does not
// hold up the good. Where it comes faster than it can be kept, the rest is
// counted and dropped.
type Burials struct {
	bus     events.Publisher
	log     *slog.Logger
	service string
	counts  *Counts
	queue   chan burial
}

type burial struct {
	message events.Message
	cause   error
}

// NewBurials returns a Burials for service. It writes while it Runs.
func NewBurials(bus events.Publisher, log *slog.Logger, service string, counts *Counts) *Burials {
	return &Burials{bus: bus, log: log, service: service, counts: counts, queue: make(chan burial, maxBurials)}
}

// Bury has m kept with the cause, without waiting for it.
func (b *Burials) Bury(m events.Message, cause error) {
	reason := "Failed"
	var bad *events.BadInput
	if errors.As(cause, &bad) {
		reason = bad.Reason
	}
	b.counts.Dead.WithLabelValues(reason).Inc()
	select {
	case b.queue <- burial{m, cause}:
	default:
		b.counts.DeadDropped.Inc()
	}
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
					b.write(ctx, d)
				}
			}
		})
	}
	return group.Wait()
}

func (b *Burials) write(ctx context.Context, d burial) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := events.Bury(ctx, b.bus, b.service, d.message, d.cause); err != nil && !errors.Is(err, context.Canceled) {
		b.counts.DeadDropped.Inc()
		b.log.Warn("dead letter was not written", "stream", d.message.Stream, "sequence", d.message.Sequence, "error", err)
	}
}
