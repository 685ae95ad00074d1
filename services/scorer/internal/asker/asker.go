package asker

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/scorer/internal/roster"
)

// service is the scorer's name on the bus, of which this is a part.
const service = "scorer"

// Limits of what is kept and done at a time.
const (
	// MaxScorers bounds the dynamic scorers.
	MaxScorers = 256
	// maxCalls is how many calls are under way at a time, maxCallsEach how
	// many of them to one scorer, maxRetriesEach how many of those about
	// clusters that failed last, for they may take all the time that they get.
	maxCalls       = 64
	maxCallsEach   = 16
	maxRetriesEach = 4
	maxFold        = 256
)

// API calls scoring APIs. Its errors are *dynamic.Failure.
type API interface {
	Get(ctx context.Context, url string, limit int64) ([]byte, error)
	Post(ctx context.Context, url string, token *schemas.TokenRef, body []byte, limit int64) ([]byte, error)
	// Token says whether a token can be read.
	Token(schemas.TokenRef) error
}

// Options are what an Asker is made of beside a decider's Config.
type Options struct {
	API API
	// Clusters, unless nil, reaches the collectors.
	Clusters events.Requester
	// Roster, if set, tells of clusters that no hub knows.
	Roster *roster.Roster
	// Identity is this replica's. Default: a random one.
	Identity string
	// Lease is for how long a replica asks without saying so again. Default
	// 30 s.
	Lease time.Duration
	// Check is how often a scorer's health and configuration are asked.
	// Default 30 s.
	Check time.Duration
}

// Defaults of Options.
const (
	defaultLease = 30 * time.Second
	defaultCheck = 30 * time.Second
)

// Asker asks, and publishes scores and statuses.
type Asker struct {
	*decider.Loop[content]
	options Options
	counts  *telemetry
	gauges  *gauges

	snapshot
	pairs    decider.Line[*pair]
	statuses decider.Line[*asked]
	alarms   decider.Alarms[timed]
	// folded: something came in since what is held was looked at.
	folded bool

	calling int      // calls under way
	waiting []*unit  // for one to end
	checks  []*check // that are due
	inbox   chan func()
	calls   sync.WaitGroup
}

// timed is what time alone can change.
type timed interface {
	decider.Timed
	due(*Asker)
}

// New returns an Asker.
func New(c decider.Config, o Options) (*Asker, error) {
	o.Identity = cmp.Or(o.Identity, events.NewID())
	o.Lease, o.Check = cmp.Or(o.Lease, defaultLease), cmp.Or(o.Check, defaultCheck)
	registry := decider.NewRegistry("dynamic-scoring", c.Metrics)
	e := &Asker{options: o, counts: newTelemetry(registry), gauges: newGauges(registry), snapshot: newSnapshot(), inbox: make(chan func(), maxCalls)}
	if err := registry.Err(); err != nil {
		return nil, err
	}
	var err error
	e.Loop, err = decider.New(c, decider.Spec{
		Service: service, Metrics: "dynamic-scoring", Span: "scorer.ask", Stream: events.StreamScores, Watches: watches(), MaxFold: maxFold,
		Inbox:    e.inbox,
		Readable: map[string]func(*events.Received) error{events.StreamHub: nil, events.StreamConfig: nil, events.StreamStatus: nil},
	}, e)
	return e, err
}

// watches are what the snapshot is made of.
func watches() []events.Watch {
	hub := func(kind string) string { return "sw.hub." + kind + ".>" }
	config := func(kind string) string { return "sw.config." + kind + ".>" }
	return []events.Watch{
		{Stream: events.StreamHub, Subjects: []string{hub(events.KindCluster), hub(events.KindDynamicScorer), hub(events.KindScoringConfig)}},
		{Stream: events.StreamConfig, Subjects: []string{config(events.KindScorer), config(events.KindDynamicScorer), config(events.KindScoringConfig)}},
		{Stream: events.StreamStatus, Subjects: []string{"sw.status." + events.KindDynamicScorer + ".>"}},
		{Stream: events.StreamScores, Newest: true},
	}
}

// Run asks and decides until ctx ends, and waits for the calls to end.
func (e *Asker) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer e.calls.Wait()
	defer cancel()
	if e.options.Roster != nil {
		e.calls.Go(func() { e.followRoster(ctx) })
	}
	return e.Loop.Run(ctx)
}

// note has fn called on the loop.
func (e *Asker) note(ctx context.Context, fn func()) {
	select {
	case e.inbox <- fn:
	case <-ctx.Done():
	}
}

func (e *Asker) followRoster(ctx context.Context) {
	for {
		select {
		case <-e.options.Roster.Changed():
			changed := e.options.Roster.Take()
			e.note(ctx, func() { e.foldRoster(changed) })
		case <-ctx.Done():
			return
		}
	}
}

// Begin looks at everything once.
func (e *Asker) Begin() {
	e.folded = true
	e.resolveAll()
	for _, a := range e.scorers {
		e.statuses.Push(a)
	}
	for _, c := range e.clusters {
		for _, p := range c.pairs {
			e.pairs.Push(p)
		}
	}
	for name := range e.owners {
		e.markName(name)
	}
}

// Decide publishes what is worth it and starts the calls that are due.
func (e *Asker) Decide(ctx context.Context) time.Time {
	now := e.Now()
	next := e.sweep(now)
	for x, ok := e.alarms.Due(now); ok; x, ok = e.alarms.Due(now) {
		e.folded = true
		x.due(e)
	}
	if e.folded {
		e.folded = false
		e.pairs.Release()
		e.statuses.Release()
	}
	for e.Room() {
		if a, ok := e.statuses.Pop(); ok {
			e.decideStatus(ctx, a)
			continue
		}
		p, ok := e.pairs.Pop()
		if !ok {
			break
		}
		e.decide(ctx, p)
	}
	e.startChecks(ctx)
	e.startCalls(ctx)
	e.counts.sizes(len(e.scorers), e.pairs.Len()+e.InFlight(), e.calling, len(e.waiting))
	if first := e.alarms.Next(); !first.IsZero() && first.Before(next) {
		next = first
	}
	return next
}
