package app

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/document"
	"github.com/spokewire/spokewire/services/collector/internal/kubernetes"
	"github.com/spokewire/spokewire/services/collector/internal/query"
	"github.com/spokewire/spokewire/services/collector/internal/receive"
	"github.com/spokewire/spokewire/services/collector/internal/scrape"
)

// origin takes snapshots of one source.
type origin interface {
	Scrape(ctx context.Context) (sample.Snapshot, error)
	Close()
}

// runner is an origin that has work of its own, until ctx ends.
type runner interface {
	Run(ctx context.Context) error
}

func newOrigins(c config.Config, log *slog.Logger) ([]origin, error) {
	var origins []origin
	for i, source := range c.Sources {
		t, err := newOrigin(source, log)
		if err != nil {
			return nil, fmt.Errorf("sources[%d].%w", i, err)
		}
		origins = append(origins, t)
	}
	return origins, nil
}

// newOrigin returns the origin of a valid source. The error names the field.
func newOrigin(source config.Source, log *slog.Logger) (origin, error) {
	switch {
	case source.Prometheus != nil:
		return query.New(source)
	case source.JSON != nil:
		return document.New(source)
	case source.RemoteWrite != nil, source.OTLP != nil:
		return receive.New(source)
	case source.Kubernetes != nil:
		return kubernetes.New(source, log.With("source", source.Name))
	}
	return scrape.New(source)
}
