package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/decisions"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/explain"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/native"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/observe"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/profiles"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/requests"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/scorers"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/scores"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/slices"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Bus is what the bridge needs of a bus.
type Bus interface {
	events.Publisher
	events.Getter
	events.Watcher
	events.Historian
}

// bridge is a bridge in the making: its parts, joined in wire.
type bridge struct {
	options  Options
	lock     *lease // nil: it always leads
	runtime  process.Runtime
	bus      Bus
	hub      *kube.Hub
	clock    *events.Clock
	receipts *receipt.Writer

	observer  *observe.Observer
	decisions *decisions.Applier
	explain   *explain.Recorder
	slips     *explain.Slips
	scores    *scores.Applier
	requests  *requests.Applier
	scorers   *scorers.Applier
	slices    *slices.Applier   // nil: not asked for
	profiles  *profiles.Applier // nil: not asked for
}

// RunOn works on a bus that is connected.
func RunOn(ctx context.Context, bus Bus, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	config, err := o.config()
	if err != nil {
		return err
	}
	lock, err := newLock(o, config, rt.Log)
	if err != nil {
		return err
	}
	sig, err := kube.FindSIG(ctx, config, kube.SIG{Slices: o.Slices, Profiles: o.Profiles, Source: o.Inventory}, rt.Log)
	if err != nil {
		return err
	}
	hub, err := kube.New(lock.fence(config), kube.NewMetrics(rt.Metrics), sig, rt.Log)
	if err != nil {
		return err
	}
	b := &bridge{options: o, lock: lock, runtime: rt, bus: bus, hub: hub, clock: events.NewClock(nil)}
	if err := b.wire(); err != nil {
		return err
	}
	return b.run(klog.NewContext(ctx, logr.FromSlogHandler(rt.Log.Handler())))
}

// wire joins the parts: what changes on the hub or the bus goes into the
// queues of those whom it concerns.
func (b *bridge) wire() error {
	o, rt, clock := b.options, b.runtime, b.clock
	queues := work.NewMetrics(rt.Metrics)
	queue := func(name string) *work.Queue { return work.NewQueue(name, rt.Log, queues) }
	tracer := rt.Tracer.Tracer("github.com/spokewire/spokewire/services/hub-bridge")
	urgent := new(work.Gate)
	letters := receipt.NewLetters(b.bus, Name, rt.Metrics)
	b.receipts = receipt.NewWriter(b.bus, clock, rt.Log, Name, rt.Metrics)
	explaining := explain.Options{
		Hub: b.hub, Clock: clock, Log: rt.Log, Urgent: urgent, Budget: o.ExplanationBudget, Identity: o.Identity, Metrics: rt.Metrics,
	}
	b.explain = explain.NewRecorder(explaining, queue("explanations"))
	b.slips = explain.NewSlips(explaining, queue("slips"))
	b.decisions = decisions.NewApplier(decisions.Options{
		Hub: b.hub, Bus: b.bus, Record: b.receipts.Record, Bury: letters.Bury, Clock: clock, Log: rt.Log, Tracer: tracer, Urgent: urgent,
		Explain: b.explain.Note,
		Done: func(namespace, name string) {
			b.changedSIG(kube.Change{Kind: events.KindPlacementDecision, Namespace: namespace, Name: name})
		},
		Native: func(namespace, name string) { b.observer.Changed(events.KindPlacementDecision, namespace, name) },
	}, queue("decisions"))
	b.scores = scores.NewApplier(scores.Options{
		Hub: b.hub, Bus: b.bus, Record: b.receipts.Record, Bury: letters.Bury, Clock: clock, Log: rt.Log, Tracer: tracer,
		Metrics: rt.Metrics, Urgent: urgent, Budget: o.ScoreBudget, Margin: o.ScoreMargin,
	}, queue("scores"))
	b.requests = requests.NewApplier(requests.Options{
		Hub: b.hub, History: b.bus, Record: b.receipts.Record, Bury: letters.Bury, Clock: clock, Log: rt.Log,
	}, queue("requests"))
	b.scorers = scorers.NewApplier(scorers.Options{
		Hub: b.hub, Clock: clock, Log: rt.Log, Urgent: urgent, Identity: o.Identity,
	}, queue("scorers"))
	ocm := &native.Publisher{Service: Name, Hub: b.hub, Bus: b.bus, Ledger: b.decisions.Ledger, Overtaken: b.decisions.Overtaken, Clock: clock, Log: rt.Log}
	b.observer = observe.NewObserver(observe.Options{
		Service: Name, Hub: b.hub, Bus: b.bus, Clock: clock, Log: rt.Log, Metrics: rt.Metrics, All: b.all,
		After: func(ctx context.Context, s events.Subject, sequence uint64) error {
			if s.Kind != events.KindPlacementDecision {
				return nil
			}
			return ocm.Publish(ctx, s.Namespace, s.Name, sequence)
		},
	}, queue("observe"))
	b.wireSIG(queue, urgent)
	rt.Health.Ready("hub", b.hub.Synced)
	rt.Health.Ready("bus", b.synced)
	if b.lock != nil {
		rt.Health.Ready("lease", b.lock.Ready)
		rt.Health.Detail("lease", b.lock.Detail)
		rt.Metrics.MustRegister(b.lock.leading())
	}
	return b.hub.OnChange(b.changed)
}

// changed tells those whom a change on the hub concerns.
func (b *bridge) changed(c kube.Change) {
	b.changedSIG(c)
	if c.Kind == kube.KindSlice || c.Kind == kube.KindProfile {
		return // nobody is told of what is copied
	}
	b.observer.Changed(c.Kind, c.Namespace, c.Name)
	switch c.Kind {
	case events.KindPlacement:
		b.observer.Changed(events.KindPlacementDecision, c.Namespace, c.Name)
		b.decisions.Changed(c.Namespace, c.Name)
		b.requests.Changed(c.Namespace, c.Name)
		b.slips.Changed(c.Namespace, c.Name)
	case events.KindPlacementDecision:
		b.decisions.Changed(c.Namespace, c.Name)
	case events.KindAddOnScore:
		b.scores.Changed(c.Namespace, c.Name)
	case events.KindDynamicScorer:
		b.scorers.Changed(c.Namespace, c.Name)
	case events.KindCluster:
		if c.Added {
			b.scores.ClusterAppeared(c.Name)
		}
	}
}

// all names everything that the hub holds.
func (b *bridge) all(fn func(kind, namespace, name string)) {
	for _, kind := range []string{
		events.KindCluster, events.KindClusterSet, events.KindBinding,
		events.KindPlacement, events.KindPlacementDecision, events.KindAddOnScore,
		events.KindDynamicScorer, events.KindScoringConfig,
	} {
		for _, c := range b.hub.Names(kind) {
			fn(c.Kind, c.Namespace, c.Name)
		}
	}
}

func (b *bridge) synced() error {
	for stream, synced := range map[string]func() bool{
		events.StreamHub:       b.observer.Ledger.Synced,
		events.StreamDecisions: b.decisions.Ledger.Synced,
		events.StreamScores:    b.scores.Ledger.Synced,
		events.StreamConfig:    b.requests.Ledger.Synced,
		events.StreamStatus:    b.scorers.Ledger.Synced,
	} {
		if !synced() {
			return fmt.Errorf("stream %s is not read yet, or the connection is lost", stream)
		}
	}
	return nil
}

// run follows hub and bus, and works while this replica leads.
func (b *bridge) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		b.hub.Run(ctx)
		return ctx.Err()
	})
	group.Go(func() error { return settle(ctx, b.clock, b.runtime.Log, b.scores.TimeMoved) })
	group.Go(func() error { return b.observer.Ledger.Run(ctx, b.bus, observe.Watch()) })
	group.Go(func() error { return b.decisions.Ledger.Run(ctx, b.bus, decisions.Watch()) })
	group.Go(func() error { return b.scores.Follow(ctx, b.bus) })
	group.Go(func() error { return b.requests.Ledger.Run(ctx, b.bus, requests.Watch()) })
	group.Go(func() error { return b.scorers.Follow(ctx, b.bus) })
	group.Go(func() error {
		if err := b.untilSynced(ctx); err != nil {
			return err
		}
		return lead(ctx, b.lock, b.work)
	})
	return group.Wait()
}

// untilSynced waits for the first full reading of hub and bus. Later gaps
// are each part's own matter.
func (b *bridge) untilSynced(ctx context.Context) error {
	ticker := time.NewTicker(syncPoll)
	defer ticker.Stop()
	for errors.Join(b.hub.Synced(), b.synced()) != nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

const syncPoll = 20 * time.Millisecond

// Workers of what is less urgent than decisions.
const (
	observeWorkers = 4
	scoreWorkers   = 4
	requestWorkers = 2
	scorerWorkers  = 1
	sliceWorkers   = 4
	profileWorkers = 2
)

// work runs the workers until ctx ends.
func (b *bridge) work(ctx context.Context) {
	b.runtime.Log.Info("leading", "identity", b.options.Identity)
	var workers sync.WaitGroup
	workers.Go(func() { b.receipts.Run(ctx) })
	workers.Go(func() { b.observer.Run(ctx, observeWorkers) })
	workers.Go(func() { b.decisions.Run(ctx, b.options.Workers) })
	workers.Go(func() { b.explain.Run(ctx) })
	workers.Go(func() { b.slips.Run(ctx) })
	workers.Go(func() { b.scores.Run(ctx, scoreWorkers) })
	workers.Go(func() { b.requests.Run(ctx, requestWorkers) })
	workers.Go(func() { b.scorers.Run(ctx, scorerWorkers) })
	if b.slices != nil {
		workers.Go(func() { b.slices.Run(ctx, sliceWorkers) })
	}
	if b.profiles != nil {
		workers.Go(func() { b.profiles.Run(ctx, profileWorkers) })
	}
	workers.Wait()
}
