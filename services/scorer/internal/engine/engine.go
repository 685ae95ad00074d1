// Package engine keeps a snapshot of metrics, clusters and scorers from the
// bus, and publishes the scores that follow from it. One goroutine owns the
// snapshot; only publishing is done beside it.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
)

// Service is the scorer's name on the bus.
const Service = "scorer"

// Limits of what the engine keeps and does at a time.
const (
	// MaxScorers bounds the scorers; those beyond it are dead-lettered.
	MaxScorers = 1000
	// DefaultMaxInFlight is how many scores are being published at a time.
	DefaultMaxInFlight = 256
	// maxFold bounds how many events are folded between two rounds of
	// publishing.
	maxFold = 256
	// maxJump is by how much server time may leap before expiries are held
	// for jumpHold, in which the collectors show that they are alive.
	maxJump  = time.Minute
	jumpHold = time.Minute
	// maxBehind bounds how long a score waits for this replica to see what
	// the score before it had seen.
	maxBehind = 10 * time.Second
)

// Bus is what the engine needs of a bus.
type Bus interface {
	events.Publisher
	events.Getter
	events.Watcher
}

// Config is what an Engine is made of. All fields but MaxInFlight are
// required.
type Config struct {
	Bus     Bus
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Tracer  trace.TracerProvider
	// MaxInFlight is how many scores are published at a time, one per
	// subject. Default DefaultMaxInFlight.
	MaxInFlight int
}

// Engine computes and publishes scores.
type Engine struct {
	bus         Bus
	log         *slog.Logger
	tracer      trace.Tracer
	maxInFlight int

	clock    *events.Clock
	compiler *score.Compiler
	counts   *telemetry
	burials  *burials

	snapshot
	queue    queue   // dirty, each once
	held     []*pair // wait until this replica has caught up
	wakes    wakes
	inFlight int
	results  chan outcome
	running  sync.WaitGroup
	// holdUntil is when expiries are published again after server time
	// jumped.
	holdUntil time.Time

	ready atomic.Bool
}

// New returns an Engine.
func New(c Config) (*Engine, error) {
	compiler, err := score.NewCompiler()
	if err != nil {
		return nil, err
	}
	counts, err := newTelemetry(c.Metrics)
	if err != nil {
		return nil, err
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	return &Engine{
		bus:         c.Bus,
		log:         c.Log,
		tracer:      c.Tracer.Tracer("github.com/spokewire/spokewire/services/scorer"),
		maxInFlight: c.MaxInFlight,
		clock:       events.NewClock(nil),
		compiler:    compiler,
		counts:      counts,
		burials:     newBurials(c.Bus, c.Log, counts),
		snapshot:    newSnapshot(),
		results:     make(chan outcome, c.MaxInFlight),
	}, nil
}

// Ready returns nil while the snapshot is complete and followed.
func (e *Engine) Ready() error {
	if !e.ready.Load() {
		return errors.New("the streams are being read")
	}
	return nil
}

// watches are what the snapshot is made of.
func watches() []events.Watch {
	return []events.Watch{
		{Stream: events.StreamMetrics},
		{Stream: events.StreamHub, Subjects: []string{"sw.hub." + events.KindCluster + ".>"}},
		{Stream: events.StreamConfig, Subjects: []string{"sw.config." + events.KindScorer + ".>"}},
		{Stream: events.StreamScores},
	}
}

// Run scores until ctx ends, and returns its error then.
func (e *Engine) Run(ctx context.Context) error {
	defer e.ready.Store(false)
	batches := make(chan events.Batch)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return events.Feed(ctx, e.bus, watches(), func(b events.Batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error { return e.burials.run(ctx) })
	group.Go(func() error { return e.loop(ctx, batches) })
	return group.Wait()
}

// loop is the one goroutine that owns the snapshot.
func (e *Engine) loop(ctx context.Context, batches <-chan events.Batch) error {
	defer e.running.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		e.wakeDue()
		e.dispatch(ctx)
		e.counts.pending.Set(float64(e.queue.len() + e.inFlight))
		timer.Reset(e.nextWake())
		select {
		case b := <-batches:
			e.take(ctx, b)
		case r := <-e.results:
			e.settle(r)
			e.settleAll()
		case <-timer.C:
			e.release()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take folds a batch into the snapshot. It goes on publishing meanwhile, so
// that a backlog of events does not hold up the scores.
func (e *Engine) take(ctx context.Context, b events.Batch) {
	for chunk := range slices.Chunk(b.Updates, maxFold) {
		for _, u := range chunk {
			e.observe(u.Message.ReceivedAt)
			e.fold(u)
		}
		if b.Synced && e.synced {
			e.settleAll()
			e.dispatch(ctx)
		}
	}
	if b.Synced && !e.synced {
		e.startDeciding()
	}
	e.release()
	e.counts.sizes(len(e.clusters), e.live)
}

// startDeciding follows each complete reading of the streams: whatever was
// missed, every pair is looked at once.
func (e *Engine) startDeciding() {
	e.synced, e.syncedAt = true, e.clock.Now()
	e.ready.Store(true)
	e.recount()
	for _, c := range e.clusters {
		for _, s := range e.scorers {
			e.mark(c, s, nil)
		}
	}
	e.log.Info("streams are read", "clusters", len(e.clusters), "scorers", e.live)
}

// lose stops the deciding until the streams were read again.
func (e *Engine) lose() {
	if e.synced {
		e.log.Info("connection lost, scoring waits until the streams are read again")
	}
	e.synced = false
	e.ready.Store(false)
}

// observe takes note of server time, and of its leaps.
func (e *Engine) observe(receivedAt time.Time) {
	if receivedAt.IsZero() {
		return
	}
	if ahead := e.clock.Observe(receivedAt); ahead > maxJump && e.synced {
		e.holdUntil = e.clock.Now().Add(jumpHold)
		e.counts.jumps.Inc()
		e.log.Error("server time jumped ahead, expiries are held", "jump", ahead, "hold", jumpHold)
	}
}
