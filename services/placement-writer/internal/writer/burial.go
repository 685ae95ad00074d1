package writer

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/pkg/events"
)

const (
	maxBurials    = 1024
	burialWorkers = 4
)

// burials writes dead letters beside the loop, so that bad input does not
// hold up the good. Where it comes faster than it can be kept, the rest is
// counted and dropped.
type burials struct {
	bus       events.Publisher
	log       *slog.Logger
	telemetry *telemetry
	queue     chan burial
}

type burial struct {
	message events.Message
	cause   error
}

func newBurials(bus events.Publisher, log *slog.Logger, t *telemetry) *burials {
	return &burials{bus: bus, log: log, telemetry: t, queue: make(chan burial, maxBurials)}
}

func (b *burials) add(m events.Message, cause error) {
	reason := "Failed"
	var bad *events.BadInput
	if errors.As(cause, &bad) {
		reason = bad.Reason
	}
	b.telemetry.dead.WithLabelValues(reason).Inc()
	select {
	case b.queue <- burial{m, cause}:
	default:
		b.telemetry.deadDropped.Inc()
	}
}

func (b *burials) run(ctx context.Context) error {
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

func (b *burials) write(ctx context.Context, d burial) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	err := events.Bury(ctx, b.bus, Service, d.message, d.cause)
	if err != nil && !errors.Is(err, context.Canceled) {
		b.telemetry.deadDropped.Inc()
		b.log.Warn("dead letter was not written", "stream", d.message.Stream, "sequence", d.message.Sequence, "error", err)
	}
}
