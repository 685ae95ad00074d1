// Package writer follows the hub, the scores and the decisions on the bus,
// and publishes the decisions of direct Placements. What is decided is
// package placement's; here stand the snapshot, the times and the log. One
// goroutine owns all of it; only publishing is done beside it.
package writer

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/intake"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
)

// Service is the placement-writer's name on the bus.
const Service = "placement-writer"

// DefaultMaxInFlight is how many decisions are being published at a time.
const DefaultMaxInFlight = 64

const (
	// minNap bounds how often time alone makes one Placement be decided, so
	// that scores which expire one after the other do so together.
	minNap = 50 * time.Millisecond
	// maxFold is as much as a batch: what comes at once is decided at once.
	maxFold = 4096
)

// Writer decides Placements.
type Writer struct {
	*decider.Loop[*deciding]
	counts *telemetry

	fleet *placement.Fleet
	seen  positions
	desks map[seat]*desk
	ahead ahead
	users map[string]map[*desk]struct{} // of a scorer's scores

	graves  map[seat]*grave // of desks that are gone
	sweepAt int             // as many graves
	shadows shadows

	line   decider.Line[*desk] // to decide
	asking []*desk             // their expressions, of which there is much to ask
	// alarm is when the first desk's time comes, zero for never; it may be early.
	alarm time.Time
	// folded: something came in since the line's held desks were looked at.
	folded bool
}

// New returns a Writer.
func New(c decider.Config) (*Writer, error) {
	counts, err := newTelemetry(decider.NewRegistry(Service, c.Metrics))
	if err != nil {
		return nil, err
	}
	w := &Writer{
		counts: counts,
		fleet:  placement.NewFleet(),
		seen:   newPositions(),
		desks:  map[seat]*desk{},
		ahead:  newAhead(),
		users:  map[string]map[*desk]struct{}{},
		graves: map[seat]*grave{}, sweepAt: minSweep,
		shadows: newShadows(),
	}
	w.Loop, err = decider.New(c, decider.Spec{
		Service: Service, Span: "placement.decide", Stream: events.StreamDecisions, Watches: watches(), MaxFold: maxFold,
		Readable: map[string]func(*events.Received) error{events.StreamHub: intake.Accept, events.StreamScores: nil, events.StreamConfig: nil, events.StreamDecisions: nil},
	}, w)
	return w, err
}

// watches are what decisions rest on.
func watches() []events.Watch {
	hub := func(kind string) string { return "sw.hub." + kind + ".>" }
	config := func(kind string) string { return "sw.config." + kind + ".>" }
	return []events.Watch{
		{Stream: events.StreamHub, Subjects: []string{
			hub(events.KindCluster), hub(events.KindClusterSet), hub(events.KindBinding),
			hub(events.KindPlacement), hub(events.KindAddOnScore), hub(events.KindPlacementDecision),
		}},
		{Stream: events.StreamScores, Newest: true},
		{Stream: events.StreamConfig, Subjects: []string{
			config(events.KindPolicy), config(events.KindCordon), config(events.KindRebalance),
		}},
		{Stream: events.StreamDecisions, Subjects: []string{"sw.decision." + events.KindPlacement + ".>", "sw.decision." + events.KindShadow + ".>"}},
	}
}

// Begin looks at every Placement once, and lets those be whose last decision
// had seen all that this replica sees.
func (w *Writer) Begin() {
	w.folded = true
	for _, d := range w.desks {
		d.ranking = nil // may rest on a time that is no more
		w.review(d)
	}
}

// review puts the desk in line as its last decision asks for. One that rests
// on all that there is says itself when it must be made again: then the
// clusters need no ranking yet, which is most of the work of a cold start.
func (w *Writer) review(d *desk) {
	switch {
	case w.outdated(d):
		w.enqueue(d)
	case d.ranking == nil && d.decides():
		w.wakeAt(d, napAtLeast(w.Now(), firstOf(d.decision.Timers)))
	default:
		w.enqueueQuietly(d)
	}
}

func firstOf(timers map[string]time.Time) (first time.Time) {
	for _, t := range timers {
		first = earlier(first, t)
	}
	return first
}

// Decide decides those in line, as many as may be in flight.
func (w *Writer) Decide(ctx context.Context) time.Time {
	if due := w.wakeDue(); due || w.folded {
		w.folded = false
		w.line.Release()
	}
	for w.Room() {
		d, ok := w.line.Pop()
		if !ok {
			break
		}
		w.decide(ctx, d)
	}
	w.askOn()
	w.counts.sizes(w.fleet.Clusters(), len(w.desks)-w.shadows.desks, &w.shadows)
	if w.line.Len()+len(w.asking) > 0 && w.Room() {
		return w.Now() // after what has come in
	}
	return w.alarm
}
