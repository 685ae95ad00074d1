// Package engine keeps a snapshot of metrics, clusters and scorers from the
// bus, and publishes the scores that follow from it. One goroutine owns the
// snapshot; only publishing is done beside it.
package engine

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/scorer/internal/roster"
)

// Service is the scorer's name on the bus.
const Service = "scorer"

// Limits of what the engine keeps and does at a time.
const (
	// MaxScorers bounds the scorers; those beyond it are dead-lettered.
	MaxScorers = 1000
	// DefaultMaxInFlight is how many scores are being published at a time.
	DefaultMaxInFlight = 256
)

// Engine computes and publishes scores.
type Engine struct {
	// Roster, if set, is told which clusters have metrics. Set it before Run.
	Roster *roster.Roster

	*decider.Loop[*scoring]
	compiler  *score.Compiler
	counts    *telemetry
	historian *historian
	inbox     chan func()

	snapshot
	past  past
	line  decider.Line[*pair] // dirty
	wakes decider.Alarms[*pair]
	// folded: something came in since the line's held pairs were looked at.
	folded bool
	swept  time.Time // in server time
}

// New returns an Engine.
func New(c decider.Config) (*Engine, error) {
	compiler, err := score.NewCompiler()
	if err != nil {
		return nil, err
	}
	counts, err := newTelemetry(decider.NewRegistry(Service, c.Metrics))
	if err != nil {
		return nil, err
	}
	e := &Engine{
		compiler: compiler, counts: counts, snapshot: newSnapshot(), inbox: make(chan func()),
		historian: &historian{bus: c.Bus, limit: MaxWindowBytes, wishes: make(chan wish, 1)},
		past:      past{room: budget{limit: MaxWindowBytes}},
	}
	e.Loop, err = decider.New(c, decider.Spec{
		Service: Service, Span: "scorer.evaluate", Stream: events.StreamScores, Watches: watches(), MaxFold: 256,
		Inbox:    e.inbox,
		Readable: map[string]func(*events.Received) error{events.StreamMetrics: nil, events.StreamHub: nil},
	}, e)
	return e, err
}

// watches are what the snapshot is made of.
func watches() []events.Watch {
	return []events.Watch{
		{Stream: events.StreamMetrics, Newest: true},
		{Stream: events.StreamHub, Subjects: []string{"sw.hub." + events.KindCluster + ".>"}},
		{Stream: events.StreamConfig},
		{Stream: events.StreamScores, Newest: true},
	}
}

// Run computes and publishes until ctx ends, and returns its error then.
func (e *Engine) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return e.Loop.Run(ctx) })
	group.Go(func() error {
		return e.historian.run(ctx, func(read *readPast) {
			select {
			case e.inbox <- func() { e.takePast(read) }:
			case <-ctx.Done():
			}
		})
	})
	return group.Wait()
}

// Begin looks at every pair once.
func (e *Engine) Begin() {
	e.folded = true
	e.recount()
	e.readPast()
	for _, c := range e.clusters {
		for _, s := range e.scorers {
			e.mark(c, s, nil)
		}
	}
}

// Decide evaluates dirty pairs and starts to publish what is worth it, until
// all are done or too many are on their way.
func (e *Engine) Decide(ctx context.Context) time.Time {
	now := e.Now()
	next := e.sweep(now)
	e.joinPast()
	if due := e.wakeDue(now); due || e.folded {
		e.folded = false
		e.line.Release()
	}
	for e.Room() {
		p, ok := e.line.Pop()
		if !ok {
			break
		}
		e.decide(ctx, p)
	}
	if first := e.wakes.Next(); !first.IsZero() && first.Before(next) {
		next = first
	}
	e.counts.sizes(len(e.clusters), e.live, e.line.Len()+e.InFlight(), e.past.room.used)
	return next
}
