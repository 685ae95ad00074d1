package writer

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// outdated reports whether the Placement must be decided again: its last
// decision is none of ours, is for another object, had not seen something
// that it depends on, or its time is up.
func (w *Writer) outdated(d *desk) bool {
	if d.mourns() {
		return true
	}
	if !d.direct() {
		return false
	}
	if !d.ours() || d.decision.Placement.UID != d.object.Object.UID {
		return true
	}
	hub, scores := d.decision.Basis[events.StreamHub], d.decision.Basis[events.StreamScores]
	newer := hub < max(w.seen.fleet, d.position)
	for _, resource := range d.object.Resources() {
		newer = newer || scores < w.seen.scores[resource] || hub < w.seen.addOns[resource]
	}
	now := w.clock.Now()
	for _, timer := range d.decision.Timers {
		newer = newer || !timer.After(now)
	}
	return newer
}

// decideQueued decides those in line, as many as may be in flight.
func (w *Writer) decideQueued(ctx context.Context) {
	if !w.synced {
		return
	}
	for len(w.queue) > 0 && w.inFlight < w.maxInFlight {
		d := w.queue[0]
		w.queue[0] = nil
		w.queue = w.queue[1:]
		d.queued = false
		if d.inFlight {
			continue // settle puts it in line again
		}
		w.decide(ctx, d)
	}
}

func (w *Writer) decide(ctx context.Context, d *desk) {
	due, reporting := d.due, d.reporting
	d.due, d.reporting = false, false
	switch {
	case d.mourns():
		w.start(ctx, d, job{deleted: &schemas.Deleted{
			Namespace: d.key.Namespace, Name: d.key.Name, UID: d.decision.Placement.UID, Reason: "the Placement was deleted",
		}})
	case d.direct() && due && w.behind(d):
		d.wake = w.clock.Now().Add(time.Second)
	case d.direct():
		w.rank(ctx, d, due, reporting)
	default:
		clear(d.triggers)
		w.settled(d)
	}
}

// behind reports whether this replica has yet to see what the prior decision
// had seen.
func (w *Writer) behind(d *desk) bool {
	if d.decision == nil {
		return false
	}
	basis := map[string]uint64{}
	for _, stream := range []string{events.StreamHub, events.StreamScores} {
		basis[stream] = d.decision.Basis[stream]
	}
	stream, ok := w.fleet.Covers(basis)
	if ok {
		return false
	}
	if w.clock.Now().Sub(w.syncedAt) > maxBehind && w.clock.Now().Sub(d.decision.Now) > maxBehind {
		w.log.Warn("the decision before rests on events that are not in the log, going on without", "placement", d.key.String(), "stream", stream, "position", basis[stream])
		return false
	}
	w.telemetry.behind.Inc()
	return true
}

// rank brings the Placement's ranking up to date, and publishes what follows
// from it once that may be. Unless something is due, nothing moves.
func (w *Writer) rank(ctx context.Context, d *desk, due, reporting bool) {
	began := time.Now()
	now := w.clock.Now()
	if d.ranking == nil {
		d.ranking = placement.NewRanking(d.object, w.fleet, d.prior())
	}
	d.wake, d.report = napAtLeast(now, d.ranking.Refresh(now)), time.Time{}
	at, publish := d.ranking.PublishAt()
	w.telemetry.decide.Observe(time.Since(began).Seconds())
	switch {
	case !publish:
	case at.After(now):
		d.report = at
	case due, d.failures > 0, reporting && d.ranking.Difference() == placement.ScoresOnly:
		decision := d.ranking.Decision()
		w.start(ctx, d, job{decision: &decision, began: began, trigger: d.cause(&decision)})
	}
	clear(d.triggers)
}

// napAtLeast puts off a wake that is too soon.
func napAtLeast(now, wake time.Time) time.Time {
	if soonest := now.Add(minNap); !wake.IsZero() && wake.Before(soonest) {
		return soonest
	}
	return wake
}

// cause picks the event that set the decision off: that of a cluster which
// came in or went out, if one is known.
func (d *desk) cause(decision *schemas.PlacementDecision) *trigger {
	for _, names := range [][]string{decision.Added, decision.Removed, {""}} {
		for _, name := range names {
			if t, known := d.triggers[name]; known {
				return &t
			}
		}
	}
	if len(decision.Clusters) > 0 {
		if t, known := d.triggers[decision.Clusters[0].Name]; known {
			return &t
		}
	}
	return d.earliest()
}

func (d *desk) earliest() *trigger {
	var first *trigger
	for _, t := range d.triggers {
		if first == nil || t.origin.ReceivedAt.Before(first.origin.ReceivedAt) {
			first = &t
		}
	}
	return first
}
