// Package writer follows the hub, the scores and the decisions on the bus,
// and publishes the decisions of direct Placements. What is decided is
// package placement's; here stand the snapshot, the times and the log. One
// goroutine owns all of it; only publishing is done beside it.
package writer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
)

// Service is the placement-writer's name on the bus.
const Service = "placement-writer"

// DefaultMaxInFlight is how many decisions are being published at a time.
const DefaultMaxInFlight = 64

const (
	// maxBehind bounds how long a decision waits for this replica to see what
	// the decision before it had seen: the event may be gone from a restored
	// store, or have expired.
	maxBehind = 10 * time.Second
	// minNap bounds how often time alone makes one Placement be decided, so
	// that scores which expire one after the other do so together.
	minNap = 50 * time.Millisecond
	// maxJump is a leap of server time that deserves a warning.
	maxJump = time.Minute
)

// Bus is what the writer needs of a bus.
type Bus interface {
	events.Publisher
	events.Getter
	events.Watcher
}

// Config is what a Writer is made of. All fields but MaxInFlight are
// required.
type Config struct {
	Bus     Bus
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Tracer  trace.TracerProvider
	// MaxInFlight is how many decisions are published at a time, one per
	// Placement. Default DefaultMaxInFlight.
	MaxInFlight int
}

// Writer decides Placements.
type Writer struct {
	bus         Bus
	log         *slog.Logger
	tracer      trace.Tracer
	maxInFlight int
	clock       *events.Clock
	telemetry   *telemetry
	burials     *burials

	fleet *placement.Fleet
	seen  positions
	desks map[placement.Key]*desk
	users map[string]map[*desk]struct{} // of a scorer's scores

	synced   bool
	syncedAt time.Time
	queue    []*desk // to decide, each once
	inFlight int
	results  chan outcome
	running  sync.WaitGroup

	ready atomic.Bool
}

// New returns a Writer.
func New(c Config) (*Writer, error) {
	t, err := newTelemetry(c.Metrics)
	if err != nil {
		return nil, err
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	return &Writer{
		bus:         c.Bus,
		log:         c.Log,
		tracer:      c.Tracer.Tracer("github.com/spokewire/spokewire/services/placement-writer"),
		maxInFlight: c.MaxInFlight,
		clock:       events.NewClock(nil),
		telemetry:   t,
		burials:     newBurials(c.Bus, c.Log, t),
		fleet:       placement.NewFleet(),
		seen:        newPositions(),
		desks:       map[placement.Key]*desk{},
		users:       map[string]map[*desk]struct{}{},
		results:     make(chan outcome, c.MaxInFlight),
	}, nil
}

// Ready returns nil while the snapshot is complete and followed.
func (w *Writer) Ready() error {
	if !w.ready.Load() {
		return errors.New("the streams are being read")
	}
	return nil
}

// watches are what decisions rest on.
func watches() []events.Watch {
	hub := func(kind string) string { return "sw.hub." + kind + ".>" }
	return []events.Watch{
		{Stream: events.StreamHub, Subjects: []string{
			hub(events.KindCluster), hub(events.KindClusterSet), hub(events.KindBinding),
			hub(events.KindPlacement), hub(events.KindAddOnScore), hub(events.KindPlacementDecision),
		}},
		{Stream: events.StreamScores},
		{Stream: events.StreamDecisions, Subjects: []string{"sw.decision." + events.KindPlacement + ".>"}},
	}
}

// Run decides until ctx ends, and returns its error then.
func (w *Writer) Run(ctx context.Context) error {
	defer w.ready.Store(false)
	batches := make(chan events.Batch)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return events.Feed(ctx, w.bus, watches(), func(b events.Batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error { return w.burials.run(ctx) })
	group.Go(func() error { return w.loop(ctx, batches) })
	return group.Wait()
}

// loop is the one goroutine that owns the snapshot.
func (w *Writer) loop(ctx context.Context, batches <-chan events.Batch) error {
	defer w.running.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		w.wakeDue()
		w.decideQueued(ctx)
		timer.Reset(w.nap())
		select {
		case b := <-batches:
			w.take(b)
		case out := <-w.results:
			w.settle(out)
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take folds a batch into the snapshot.
func (w *Writer) take(b events.Batch) {
	for _, u := range b.Updates {
		w.observe(u.Message.ReceivedAt)
		w.fold(u)
	}
	switch {
	case b.Synced && !w.synced:
		w.startDeciding()
	case !b.Synced && w.synced:
		w.log.Info("connection lost, deciding waits until the streams are read again")
	}
	w.synced = b.Synced
	w.ready.Store(b.Synced)
	w.telemetry.sizes(w.fleet.Clusters(), len(w.desks))
}

// startDeciding follows each complete reading of the streams: it looks at
// every Placement once, and lets those be whose last decision had seen all
// that this replica sees.
func (w *Writer) startDeciding() {
	w.syncedAt = w.clock.Now()
	for _, d := range w.desks {
		if w.outdated(d) {
			w.enqueue(d)
		} else {
			w.enqueueQuietly(d)
		}
	}
	w.log.Info("streams are read", "clusters", w.fleet.Clusters(), "placements", len(w.desks))
}

// observe takes note of server time.
func (w *Writer) observe(receivedAt time.Time) {
	if receivedAt.IsZero() {
		return
	}
	if ahead := w.clock.Observe(receivedAt); ahead > maxJump && w.synced {
		w.telemetry.jumps.Inc()
		w.log.Warn("server time jumped ahead: scores may expire early", "jump", ahead)
	}
}
