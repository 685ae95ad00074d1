package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/forward"
	"github.com/spokewire/spokewire/services/collector/internal/observe"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
	"github.com/spokewire/spokewire/services/collector/internal/scrape"
)

// Run collects until ctx ends. It collects from the first moment, also while
// NATS is away: the outbox keeps what cannot be sent.
func Run(ctx context.Context, o Options, rt process.Runtime) (err error) {
	c, err := o.configuration()
	if err != nil {
		return err
	}
	store, err := outbox.Open(c.Outbox.Dir, outbox.Options{MaxBytes: c.Outbox.MaxBytes, Log: rt.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	targets, err := newTargets(c)
	if err != nil {
		return err
	}
	rt.Metrics.MustRegister(newOutboxMetrics(store))
	rt.Health.Ready("outbox", store.Err)
	collector := &collector{options: o, config: c, runtime: rt, store: store}
	return collector.run(ctx, targets)
}

type collector struct {
	options Options
	config  config.Config
	runtime process.Runtime
	store   *outbox.Store
	bus     atomic.Pointer[jetstream.Bus] // nil until connected
}

func newTargets(c config.Config) ([]*scrape.Target, error) {
	var targets []*scrape.Target
	for i, source := range c.Sources {
		target, err := scrape.New(source)
		if err != nil {
			return nil, fmt.Errorf("sources[%d].%w", i, err)
		}
		targets = append(targets, target)
	}
	return targets, nil
}

func (c *collector) run(ctx context.Context, targets []*scrape.Target) error {
	group, ctx := errgroup.WithContext(ctx)
	metrics := observe.NewMetrics(c.runtime.Metrics)
	for i, source := range c.config.Sources {
		s := observe.New(observe.Options{
			Source:   outbox.Source{Cluster: c.config.Cluster, Name: source.Name},
			Interval: source.Interval.Duration,
			Scraper:  targets[i],
			Outbox:   c.store,
			Metrics:  metrics,
			Tracer:   c.runtime.Tracer.Tracer("github.com/spokewire/spokewire/services/collector"),
			Log:      c.runtime.Log,
		})
		c.runtime.Health.Detail("source "+source.Name, s.Status)
		group.Go(func() error {
			defer targets[i].Close()
			return s.Run(ctx)
		})
	}
	c.runtime.Health.Detail("nats", c.natsStatus)
	c.runtime.Log.Info("collecting", "cluster", c.config.Cluster, "sources", len(targets), "outbox", c.config.Outbox.Dir, "waiting", c.store.Stats().Depth)
	group.Go(func() error { return c.forward(ctx) })
	return group.Wait()
}

// forward connects, however long that takes, and forwards.
func (c *collector) forward(ctx context.Context) error {
	forwardMetrics := forward.NewMetrics(c.runtime.Metrics)
	bus, err := c.options.Bus.Connect(ctx, c.runtime)
	if err != nil {
		return err
	}
	defer bus.Close()
	c.bus.Store(bus)
	var sources []outbox.Source
	for _, source := range c.config.Sources {
		sources = append(sources, outbox.Source{Cluster: c.config.Cluster, Name: source.Name})
	}
	return forward.New(forward.Options{
		Outbox:       c.store,
		Bus:          bus,
		Connected:    bus.Connected,
		Sources:      sources,
		BackfillRate: c.options.BackfillRate,
		Metrics:      forwardMetrics,
		Log:          c.runtime.Log,
	}).Run(ctx)
}

func (c *collector) natsStatus() string {
	if bus := c.bus.Load(); bus == nil || !bus.Connected() {
		return "not connected, snapshots wait in the outbox"
	}
	return "connected"
}
