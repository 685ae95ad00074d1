package app

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/forward"
	"github.com/spokewire/spokewire/services/collector/internal/observe"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
	"github.com/spokewire/spokewire/services/collector/internal/scoring"
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
	origins, err := newOrigins(c, rt.Log)
	if err != nil {
		return err
	}
	rt.Metrics.MustRegister(newOutboxMetrics(store))
	rt.Health.Ready("outbox", store.Err)
	collector := &collector{options: o, config: c, runtime: rt, store: store}
	if c.DynamicScoring != nil {
		if collector.desk, err = scoring.New(*c.DynamicScoring, rt.Metrics); err != nil {
			return err
		}
		defer collector.desk.Close()
	}
	return collector.run(ctx, origins)
}

type collector struct {
	options Options
	config  config.Config
	runtime process.Runtime
	store   *outbox.Store
	desk    *scoring.Desk                 // nil without dynamicScoring
	bus     atomic.Pointer[jetstream.Bus] // nil until connected
}

func (c *collector) run(ctx context.Context, origins []origin) error {
	group, ctx := errgroup.WithContext(ctx)
	metrics := observe.NewMetrics(c.runtime.Metrics)
	for i, source := range c.config.Sources {
		s := observe.New(observe.Options{
			Source:   outbox.Source{Cluster: c.config.Cluster, Name: source.Name},
			Fleet:    fleetOf(source),
			Interval: source.Interval.Duration,
			Scraper:  origins[i],
			Outbox:   c.store,
			Metrics:  metrics,
			Tracer:   c.runtime.Tracer.Tracer("github.com/spokewire/spokewire/services/collector"),
			Log:      c.runtime.Log,
		})
		c.runtime.Health.Detail("source "+source.Name, s.Status)
		group.Go(func() error {
			defer origins[i].Close()
			return s.Run(ctx)
		})
		if r, ok := origins[i].(runner); ok {
			group.Go(func() error { return r.Run(ctx) })
		}
	}
	c.runtime.Health.Detail("nats", c.natsStatus)
	c.runtime.Log.Info("collecting", "cluster", c.config.Cluster, "sources", len(origins), "outbox", c.config.Outbox.Dir, "waiting", c.store.Stats().Depth)
	group.Go(func() error { return c.forward(ctx) })
	return group.Wait()
}

// forward connects, however long that takes, and forwards. Beside it dynamic
// scorers are answered.
func (c *collector) forward(ctx context.Context) error {
	forwardMetrics := forward.NewMetrics(c.runtime.Metrics)
	bus, err := c.options.Bus.Connect(ctx, c.runtime)
	if err != nil {
		return err
	}
	defer bus.Close()
	c.bus.Store(bus)
	group, ctx := errgroup.WithContext(ctx)
	if c.desk != nil {
		group.Go(func() error { return bus.Respond(ctx, c.desk.Service(c.config.Cluster)) })
	}
	forwarder := forward.New(forward.Options{
		Outbox:       c.store,
		Bus:          bus,
		Connected:    bus.Connected,
		Sources:      sourcesOf(c.config),
		BackfillRate: c.options.BackfillRate,
		Metrics:      forwardMetrics,
		Log:          c.runtime.Log,
	})
	group.Go(func() error { return forwarder.Run(ctx) })
	return group.Wait()
}

// fleetOf returns how a source names its clusters, nil if it is of one.
func fleetOf(s config.Source) *observe.Fleet {
	if s.ClusterLabel == "" {
		return nil
	}
	return &observe.Fleet{Label: s.ClusterLabel, Clusters: s.Clusters}
}

// sourcesOf are the subjects that are published on.
func sourcesOf(c config.Config) []outbox.Source {
	var all []outbox.Source
	for _, source := range c.Sources {
		clusters := source.Clusters
		if source.ClusterLabel == "" {
			clusters = []string{c.Cluster}
		}
		for _, cluster := range clusters {
			all = append(all, outbox.Source{Cluster: cluster, Name: source.Name})
		}
	}
	return all
}

func (c *collector) natsStatus() string {
	if bus := c.bus.Load(); bus == nil || !bus.Connected() {
		return "not connected, snapshots wait in the outbox"
	}
	return "connected"
}
