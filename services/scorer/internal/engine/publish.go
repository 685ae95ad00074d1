package engine

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// scoring is what is to be published of a pair: a score, or the end of one.
type scoring struct {
	pair      *pair
	program   *score.Program
	result    score.Result
	withdrawn string // why, for a tombstone
	cause     string
	basis     position
	origin    *schemas.Origin
}

// start publishes beside the loop.
func (e *Engine) start(ctx context.Context, p *pair, s *scoring, began time.Time) {
	s.pair, s.basis = p, e.position
	if p.trigger != nil {
		s.origin = &p.trigger.Origin
	}
	cluster, scorer, eventType := p.cluster.name, p.scorer, schemas.TypeScoreComputed
	if s.withdrawn != "" {
		eventType = schemas.TypeScoreDeleted
	}
	e.Start(ctx, decider.Job[*scoring]{
		Content: s, Type: eventType, Source: events.ScorerSource(cluster, scorer), Key: cluster,
		Subject: events.ScoreSubject(cluster, scorer), Expected: p.sequence, Trigger: p.trigger, Began: began,
		Attributes: []attribute.KeyValue{attribute.String("cluster", cluster), attribute.String("scorer", scorer), attribute.String("cause", s.cause)},
	})
	p.trigger = nil
	e.line.Away(p)
}

// Payload is the score, or its end.
func (s *scoring) Payload() schemas.Payload {
	if s.withdrawn != "" {
		return &schemas.Deleted{Namespace: s.pair.cluster.name, Name: s.pair.scorer, Reason: s.withdrawn}
	}
	out := &schemas.Score{
		Cluster: s.pair.cluster.name, Scorer: s.pair.scorer,
		Items: s.result.Score(), HubOff: s.program.HubOff(), Origin: s.origin,
		Basis: map[string]uint64{events.StreamMetrics: s.basis.metrics, events.StreamHub: s.basis.hub, events.StreamConfig: s.basis.config},
	}
	if !s.result.ValidUntil.IsZero() {
		out.ValidUntil = &s.result.ValidUntil
	}
	return out
}

// Settle takes note of what became of a job.
func (e *Engine) Settle(out *decider.Outcome[*scoring]) {
	p := out.Content.pair
	if out.Err != nil && out.Trigger != nil {
		p.trigger = out.Trigger // older than one that came since
	}
	if out.Read {
		p.adopt(out.Last)
	}
	e.line.Back(p)
	switch out.Verdict() {
	case decider.Stored:
		p.Failures = 0
		e.published(out)
	case decider.Outrun:
		e.line.Push(p)
	case decider.Failed:
		e.wakeAt(p, p.Retry(e.Now()))
	}
}

func (e *Engine) published(out *decider.Outcome[*scoring]) {
	s, p := out.Content, out.Content.pair
	e.counts.published.WithLabelValues(s.cause).Inc()
	if out.Ack.Sequence <= p.sequence {
		return // the follow has brought it, or something newer
	}
	p.sequence, p.receivedAt = out.Ack.Sequence, e.Now()
	if s.withdrawn != "" {
		p.prior, p.ours, p.basis = nil, false, position{}
		return
	}
	state := s.program.State(&s.result)
	p.prior, p.ours, p.basis = &state, true, s.basis
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
