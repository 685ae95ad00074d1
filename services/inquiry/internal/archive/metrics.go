package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/spokewire/spokewire/internal/inquiry"
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
	var configs, sources []string
	for _, name := range scorers {
		configs = append(configs, events.ConfigSubject(events.KindScorer, "", name))
	}
	for _, name := range clusters {
		sources = append(sources, "sw.metric."+events.EncodeToken(name)+".*")
	}
	if len(configs) > 0 {
		if _, err := a.Bus.Past(ctx, events.Past{Stream: events.StreamConfig, Subjects: configs}, take); err != nil {
			return nil, fmt.Errorf("reading %s: %w", events.StreamConfig, err)
		}
	}
	return m, a.state(ctx, events.Watch{Stream: events.StreamMetrics, Subjects: sources}, take)
}

var errRead = errors.New("read")

// state reads the last events of an ingest stream, which has no past: it
// takes no direct gets.
func (a *Archive) state(ctx context.Context, w events.Watch, take func(events.Message) error) error {
	err := a.Bus.Watch(ctx, w, func(u events.Update) error {
		switch u.Kind {
		case events.Stored:
			return take(u.Message)
		case events.Synced:
			return errRead
		}
		return nil
	})
	if errors.Is(err, errRead) {
		return nil
	}
	return fmt.Errorf("reading %s: %w", w.Stream, err)
}
