package asker

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// decide does what the snapshot asks for of one score: publish, withdraw,
// wait or nothing.
func (e *Asker) decide(ctx context.Context, p *pair) {
	if until, wait := p.Wait(e.seen(p), e.Now()); wait {
		e.alarms.Set(p, until)
		e.pairs.Hold(p)
		return
	}
	a := e.owners[p.name]
	switch {
	case a == nil && e.cel[p.name]:
		e.alarms.Set(p, time.Time{}) // the other part of the service overwrites it
	case a == nil:
		e.withdraw(ctx, p, "no scorer has this name any more")
	case p.cluster.deleted:
		e.withdraw(ctx, p, "the cluster was deleted")
	case !p.cluster.scored():
		e.alarms.Set(p, time.Time{})
	case e.masked(a, p.cluster):
		e.gauges.drop(a.key, p.cluster.name)
		e.withdraw(ctx, p, "the cluster is masked")
	case e.mine(a):
		e.evaluate(ctx, p, a)
	default:
		e.alarms.Set(p, time.Time{}) // another replica's, or nobody's yet
	}
}

// seen reports whether this replica has read all that p's score rests on, as
// it has for what was published before the streams were last read.
func (e *Asker) seen(p *pair) bool {
	return !p.ours || !p.receivedAt.After(e.SyncedAt()) || e.covers(p)
}

func (e *Asker) covers(p *pair) bool {
	return e.Covers(events.StreamHub, p.basis.hub) && e.Covers(events.StreamConfig, p.basis.config) && e.Covers(events.StreamStatus, p.basis.status)
}

func (e *Asker) masked(a *asked, c *cluster) bool {
	return a.scorer != nil && e.masks[a.key.namespace].current().Has(c.name, a.scorer)
}

// withdraw ends a score of ours. Where a stream holds less than what the
// score rests on, it was restored from a copy, and the score expires by
// itself.
func (e *Asker) withdraw(ctx context.Context, p *pair, why string) {
	e.alarms.Set(p, time.Time{})
	if p.prior == nil || !p.ours || !e.covers(p) {
		return
	}
	e.start(ctx, p, &scoring{withdrawn: why, cause: "Withdrawn"})
}

func (e *Asker) evaluate(ctx context.Context, p *pair, a *asked) {
	now := e.Now()
	result, wake, known := e.result(a, p, now)
	if !known {
		e.alarms.Set(p, wake)
		return
	}
	cause, wake := a.terms.Decide(p.prior, &result, now)
	e.alarms.Set(p, wake)
	if cause == score.None {
		return
	}
	for i := range result.Items {
		e.counts.items.WithLabelValues(result.Items[i].Reason).Inc()
	}
	e.start(ctx, p, &scoring{terms: a.terms, state: a.terms.State(&result), result: result, cause: string(cause)})
}

// result is what there is to say of a cluster. known is false where there is
// nothing to say until wake: no answer yet, or none since one that still
// holds.
func (e *Asker) result(a *asked, p *pair, now time.Time) (r score.Result, wake time.Time, known bool) {
	u := a.unitOf(p.cluster)
	var failed *dynamic.Failure
	if u != nil && u.answer != nil && a.scorer != nil && now.Before(u.answer.until) {
		items, f := u.answer.items(a.scorer, p.cluster.name)
		if items != nil {
			return resultOf(items, u.answer.until), time.Time{}, true
		}
		failed = f
	}
	if p.prior != nil && now.Before(p.prior.ValidUntil) {
		return r, p.prior.ValidUntil, false // the last good score stands
	}
	if failed == nil && u != nil {
		failed = u.failure
	}
	if failed == nil {
		failed = a.trouble()
	}
	if failed == nil {
		return r, time.Time{}, false // the first call is under way
	}
	return score.Result{Items: without(p, a, failed)}, time.Time{}, true
}

// resultOf is of items that hold until a time.
func resultOf(items []score.Item, until time.Time) score.Result {
	r := score.Result{Items: items}
	for i := range items {
		if items[i].Value != nil {
			r.ValidUntil, r.Wake = until, until
		}
	}
	return r
}

// without are the items of the last score, without a value.
func without(p *pair, a *asked, f *dynamic.Failure) []score.Item {
	if p.prior == nil || len(p.prior.Items) == 0 {
		name := a.name
		if a.scorer != nil {
			name = a.scorer.ScoreName
		}
		return []score.Item{score.Without(name, f.Reason, f.Message)}
	}
	items := make([]score.Item, len(p.prior.Items))
	for i, prior := range p.prior.Items {
		items[i] = score.Without(prior.Name, f.Reason, f.Message)
	}
	return items
}

// scoring is a score to be published, or the end of one.
type scoring struct {
	pair      *pair
	terms     score.Terms
	state     score.State
	result    score.Result
	withdrawn string // why, for a tombstone
	cause     string
	basis     position
}

// start publishes beside the loop.
func (e *Asker) start(ctx context.Context, p *pair, s *scoring) {
	s.pair = p
	s.basis = position{hub: e.Positions[events.StreamHub], config: e.Positions[events.StreamConfig], status: e.Positions[events.StreamStatus]}
	eventType := schemas.TypeScoreComputed
	if s.withdrawn != "" {
		eventType = schemas.TypeScoreDeleted
	}
	e.Start(ctx, decider.Job[content]{
		Content: s, Type: eventType, Source: events.ScorerSource(p.cluster.name, p.name), Key: p.cluster.name,
		Subject: events.ScoreSubject(p.cluster.name, p.name), Expected: p.sequence,
	})
	e.pairs.Away(p)
}

// Payload is the score, or its end.
func (s *scoring) Payload() schemas.Payload {
	if s.withdrawn != "" {
		return &schemas.Deleted{Namespace: s.pair.cluster.name, Name: s.pair.name, Reason: s.withdrawn}
	}
	out := &schemas.Score{
		Cluster: s.pair.cluster.name, Scorer: s.pair.name, Items: s.result.Score(), HubOff: s.terms.HubOff(),
		Basis: map[string]uint64{events.StreamHub: s.basis.hub, events.StreamConfig: s.basis.config, events.StreamStatus: s.basis.status},
	}
	if !s.result.ValidUntil.IsZero() {
		out.ValidUntil = &s.result.ValidUntil
	}
	return out
}

func (s *scoring) settle(e *Asker, out settled) {
	p := s.pair
	if out.read {
		p.adopt(out.last)
	}
	e.pairs.Back(p)
	switch out.verdict {
	case decider.Stored:
		p.Failures = 0
		e.counts.published.WithLabelValues(s.cause).Inc()
		if out.ack.Sequence > p.sequence {
			s.stored(out.ack.Sequence, e.Now())
		}
	case decider.Outrun:
		e.pairs.Push(p)
	case decider.Failed:
		e.alarms.Set(p, p.Retry(e.Now()))
	}
}

// stored takes note that the score is the last of its subject.
func (s *scoring) stored(sequence uint64, now time.Time) {
	p := s.pair
	p.sequence, p.receivedAt = sequence, now
	p.prior, p.ours, p.basis = nil, false, position{}
	if s.withdrawn == "" {
		p.prior, p.ours, p.basis = &s.state, true, s.basis
	}
}

// adopt takes the subject's last event as the leader has it for the truth,
// even an older one.
func (p *pair) adopt(last events.Message) {
	in := input{Message: last, gone: last.Sequence == 0}
	if !in.gone {
		in.Received, in.err = events.Read(last)
	}
	p.observe(&in)
}
