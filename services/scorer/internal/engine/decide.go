package engine

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/score"
)

// mark makes one pair dirty. t may be nil: then no event is named as the
// cause.
func (e *Engine) mark(c *cluster, s *scorer, t *trigger) {
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
	e.enqueue(p)
}

func (e *Engine) enqueue(p *pair) {
	switch {
	case p.inFlight:
		p.again = true
	case !p.queued:
		p.queued = true
		e.queue.push(p)
	}
}

// dispatch evaluates dirty pairs and starts to publish what is worth it,
// until all are done or too many are on their way.
func (e *Engine) dispatch(ctx context.Context) {
	if !e.synced {
		return
	}
	for e.inFlight < e.maxInFlight {
		p := e.queue.pop()
		if p == nil {
			return
		}
		p.queued = false
		e.decide(ctx, p)
	}
}

// decide does what the snapshot asks for of one pair: publish, withdraw, wait
// or nothing.
func (e *Engine) decide(ctx context.Context, p *pair) {
	s := e.scorers[p.scorer]
	if s == nil {
		p.trigger = nil
		return
	}
	if e.behind(p) {
		p.queued = true
		e.held = append(e.held, p)
		return
	}
	switch {
	case s.program == nil || p.cluster.on == deleted:
		e.withdraw(ctx, p, s)
	case p.scored():
		e.evaluate(ctx, p, s)
	default:
		p.trigger = nil
	}
}

// behind reports whether p's score rests on events that this replica has yet
// to see. What was published before the streams were last read cannot.
func (e *Engine) behind(p *pair) bool {
	if !p.ours || !p.receivedAt.After(e.syncedAt) || e.position.covers(p.basis) {
		p.behindSince = time.Time{}
		return false
	}
	now := e.clock.Now()
	if p.behindSince.IsZero() {
		p.behindSince = now
	}
	if now.Sub(p.behindSince) >= maxBehind {
		return false
	}
	e.wakeAt(p, p.behindSince.Add(maxBehind))
	return true
}

// release lets the held pairs be decided again.
func (e *Engine) release() {
	for i, p := range e.held {
		e.queue.push(p)
		e.held[i] = nil
	}
	e.held = e.held[:0]
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
	e.start(ctx, p, job{withdrawn: reason, cause: "Withdrawn", began: time.Now()})
}

func (e *Engine) evaluate(ctx context.Context, p *pair, s *scorer) {
	began := time.Now()
	now := e.clock.Now()
	result := s.program.Evaluate(&p.cluster.Cluster, now)
	for i := range result.Items {
		e.counts.evaluations.WithLabelValues(s.name, result.Items[i].Reason).Inc()
	}
	cause, wake := s.program.Decide(p.prior, &result, now)
	if cause == score.Changed && now.Before(e.holdUntil) && loses(p.prior, &result) {
		e.wakeAt(p, e.holdUntil)
		return
	}
	e.wakeAt(p, wake)
	if cause == score.None {
		p.trigger = nil
		return
	}
	e.start(ctx, p, job{program: s.program, result: result, cause: string(cause), began: began})
}

// loses reports whether an item that had a value has none any more.
func loses(prior *score.State, next *score.Result) bool {
	for i, it := range next.Items {
		if it.Value == nil && i < len(prior.Items) && prior.Items[i].Valued {
			return true
		}
	}
	return false
}
