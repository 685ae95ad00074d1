package engine

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
)

// mark makes one pair dirty. t may be nil: then no event is named as the
// cause.
func (e *Engine) mark(c *cluster, s *scorer, t *decider.Trigger) {
	p := c.pairs[s.name]
	if p == nil {
		if s.program == nil || c.on == deleted {
			return // nothing was ever published
		}
		p = c.pair(s.name)
	}
	if p.trigger == nil {
		p.trigger = t
	}
	e.line.Push(p)
}

// decide does what the snapshot asks for of one pair: publish, withdraw, wait
// or nothing.
func (e *Engine) decide(ctx context.Context, p *pair) {
	s := e.scorers[p.scorer]
	if s == nil {
		p.trigger = nil
		return
	}
	if until, wait := p.Wait(e.covers(p), e.Now()); wait {
		e.wakeAt(p, until)
		e.line.Hold(p)
		return
	}
	switch {
	case s.program == nil || p.cluster.on == deleted:
		e.withdraw(ctx, p, s)
	case p.scored() && e.waits(s):
		e.wakeAt(p, time.Time{}) // joinPast marks it
	case p.scored():
		e.evaluate(ctx, p, s)
	default:
		p.trigger = nil
	}
}

// covers reports whether this replica has seen all that p's score rests on,
// as it has for what was published before the streams were last read.
func (e *Engine) covers(p *pair) bool {
	return !p.ours || !p.receivedAt.After(e.SyncedAt()) ||
		e.Covers(events.StreamMetrics, p.basis.metrics) && e.Covers(events.StreamHub, p.basis.hub) && e.Covers(events.StreamConfig, p.basis.config)
}

// withdraw ends a score of which the scorer, or the cluster, was deleted.
// One that rests on something newer, or that no scorer service wrote, is let
// be.
func (e *Engine) withdraw(ctx context.Context, p *pair, s *scorer) {
	e.wakeAt(p, time.Time{})
	byScorer := s.program == nil && p.basis.config < s.sequence
	byCluster := p.cluster.on == deleted && p.basis.hub < p.cluster.hub
	if p.prior == nil || !p.ours || !byScorer && !byCluster {
		p.trigger = nil
		return
	}
	reason := "the scorer was deleted"
	if byCluster {
		reason = "the cluster was deleted"
	}
	e.start(ctx, p, &scoring{withdrawn: reason, cause: "Withdrawn"}, time.Time{})
}

func (e *Engine) evaluate(ctx context.Context, p *pair, s *scorer) {
	began := time.Now()
	now := e.Now()
	result := s.program.Evaluate(&p.cluster.Cluster, now)
	for i := range result.Items {
		e.counts.evaluations.WithLabelValues(s.name, result.Items[i].Reason).Inc()
	}
	cause, wake := s.program.Decide(p.prior, &result, now)
	e.wakeAt(p, wake)
	if cause == score.None {
		p.trigger = nil
		return
	}
	e.start(ctx, p, &scoring{program: s.program, result: result, cause: string(cause)}, began)
}
