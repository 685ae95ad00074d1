package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
)

// Metrics reads the scorers that are named, and the metrics of clusters.
func (a *Archive) Metrics(ctx context.Context, c *score.Compiler, scorers, clusters []string) (*inquiry.Metrics, error) {
	m := inquiry.NewMetrics(c)
	take := func(message events.Message) error {
		if received, err := events.Read(message); err == nil {
			m.Take(&received)
		}
		return nil
	}
	for _, name := range scorers {
		if name == placement.AnyResource {
			continue // an expression computes the name: nobody knows which
		}
		if err := a.last(ctx, events.StreamConfig, events.ConfigSubject(events.KindScorer, "", name), take); err != nil {
			return nil, err
		}
	}
	for _, name := range clusters {
		if err := a.sources(ctx, name, take); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// sources reads the last snapshot of each source of a cluster. Its stream
// takes no direct gets, so there is no Past to read; but the newest event of
// one subject after the other is what that would be.
func (a *Archive) sources(ctx context.Context, cluster string, take func(events.Message) error) error {
	filter := "sw.metric." + events.EncodeToken(cluster) + ".*"
	seen := map[string]bool{}
	for after := uint64(0); ; {
		m, err := a.Bus.Next(ctx, events.StreamMetrics, filter, after)
		switch {
		case errors.Is(err, events.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("reading %s: %w", events.StreamMetrics, err)
		}
		after = m.Sequence
		if seen[m.Subject] {
			continue
		}
		seen[m.Subject] = true
		if err := a.snapshot(ctx, m, take); err != nil {
			return err
		}
	}
}

// snapshot takes the last event of a source that can be read, as the scorer
// does; first is the oldest that the stream has.
func (a *Archive) snapshot(ctx context.Context, first events.Message, take func(events.Message) error) error {
	last := first
	err := a.last(ctx, first.Stream, first.Subject, func(m events.Message) error {
		last = m
		return nil
	})
	if err != nil {
		return err
	}
	if _, refused := events.Read(last); refused == nil {
		return take(last)
	}
	for m := first; m.Sequence < last.Sequence; {
		if err := take(m); err != nil {
			return err
		}
		m, err = a.Bus.Next(ctx, m.Stream, m.Subject, m.Sequence)
		switch {
		case errors.Is(err, events.ErrNotFound):
			return nil // gone meanwhile
		case err != nil:
			return fmt.Errorf("reading %s: %w", last.Stream, err)
		}
	}
	return nil
}

func (a *Archive) last(ctx context.Context, stream, subject string, take func(events.Message) error) error {
	m, err := a.Bus.Last(ctx, stream, subject)
	switch {
	case errors.Is(err, events.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("reading %s: %w", stream, err)
	}
	return take(m)
}
