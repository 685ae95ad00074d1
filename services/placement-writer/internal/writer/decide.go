package writer

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
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
	if !d.decides() {
		return false
	}
	if !d.ours() || d.decision.Placement.UID != d.object.Object.UID {
		return true
	}
	hub, scores := d.decision.Basis[events.StreamHub], d.decision.Basis[events.StreamScores]
	newer := hub < max(w.seen.fleet, d.position) || d.decision.Basis[events.StreamConfig] < max(w.seen.config, w.seen.asked[d.Key])
	for _, resource := range d.object.Resources() {
		newer = newer || scores < w.seen.scores[resource] || hub < w.seen.addOns[resource]
	}
	now := w.Now()
	for _, timer := range d.decision.Timers {
		newer = newer || !timer.After(now)
	}
	return newer
}

func (w *Writer) decide(ctx context.Context, d *desk) {
	due, reporting := d.due, d.reporting
	d.due, d.reporting = false, false
	switch {
	case d.mourns():
		w.start(ctx, &deciding{desk: d, deleted: d.end()}, nil, time.Time{})
	case d.decides() && due && w.wait(d):
		d.due, d.reporting = true, reporting
		w.line.Hold(d)
	case d.decides():
		w.rank(ctx, d, due, reporting)
	default:
		clear(d.triggers)
		w.settled(d)
	}
}

// wait reports whether this replica has yet to see what the prior decision
// had seen.
func (w *Writer) wait(d *desk) bool {
	covered, now := true, w.Now()
	if d.decision != nil {
		basis := d.decision.Basis
		for _, stream := range []string{events.StreamHub, events.StreamScores, events.StreamConfig} {
			covered = covered && w.Covers(stream, basis[stream])
		}
	}
	until, wait := d.Wait(covered, now)
	switch {
	case wait:
		if !d.wake.Equal(until) {
			w.counts.behind.Inc()
		}
		w.wakeAt(d, until)
	case !covered:
		w.Log.Warn("the decision before rests on events that are not in the log, going on without", "placement", d.String(), "basis", d.decision.Basis)
	}
	return wait
}

// rank brings the Placement's ranking up to date, and publishes what follows
// from it once that may be. Unless something is due, nothing moves.
func (w *Writer) rank(ctx context.Context, d *desk, due, reporting bool) {
	began := time.Now()
	now := w.Now()
	if d.ranking == nil {
		d.ranking = placement.NewRanking(d.object, w.fleet, d.known().Prior())
	}
	if w.ask(d, now); d.asking {
		d.due, d.reporting = due, reporting
		return
	}
	asked := d.ranking.Asked()
	w.wakeAt(d, napAtLeast(now, d.ranking.Refresh(now)))
	w.counts.expressions.Add(float64(d.ranking.Asked() - asked))
	w.reportAt(d, time.Time{})
	at, publish := d.ranking.PublishAt()
	w.counts.decide.Observe(time.Since(began).Seconds())
	switch {
	case !publish:
	case at.After(now):
		w.reportAt(d, at)
	case due, d.Failures > 0, reporting && d.ranking.Difference() == placement.ScoresOnly:
		decision := d.ranking.Decision()
		w.start(ctx, &deciding{desk: d, decision: &decision}, d.cause(&decision), began)
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
func (d *desk) cause(decision *schemas.PlacementDecision) *decider.Trigger {
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

func (d *desk) earliest() *decider.Trigger {
	var first *decider.Trigger
	for _, t := range d.triggers {
		if first == nil || t.Origin.ReceivedAt.Before(first.Origin.ReceivedAt) {
			first = &t
		}
	}
	return first
}
