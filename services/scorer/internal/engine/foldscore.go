package engine

import (
	"errors"
	"fmt"
	"time"
	"unique"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func badExpression(in *input, err error) error {
	bad := &events.BadInput{Reason: "BadExpression", Err: fmt.Errorf("%s: %w", in.Message.Subject, err)}
	var field *schemas.FieldError
	if errors.As(err, &field) {
		bad.Field = field.Field
	}
	return bad
}

// known reports whether m is old news: mostly what this replica published
// itself, which need not be decoded again. While the streams are read anew a
// lower sequence can be the truth, of a restored store.
func (e *Engine) known(subject events.Subject, m events.Message) bool {
	c := e.clusters[subject.Cluster]
	if c == nil {
		return false
	}
	p := c.pairs[subject.Name]
	if p == nil {
		return false
	}
	return m.Sequence == p.sequence || e.Synced() && m.Sequence < p.sequence
}

// foldScore takes note of a score that somebody published.
func (e *Engine) foldScore(in *input) {
	p := e.cluster(in.subject.Cluster).pair(in.subject.Name)
	p.observe(in)
	s := e.scorers[p.scorer]
	switch {
	case s == nil || !e.Synced():
	case s.program != nil && p.ours && p.basis.covers(p.seen(s)):
		// Another replica has seen all that this one has: let its word
		// stand until time changes it, or the two would argue for ever if
		// they are of different versions.
		e.wakeAt(p, p.expiring(s.program))
	default:
		e.mark(p.cluster, s, nil)
	}
}

// expiring is when a score that another replica wrote must be looked at.
func (p *pair) expiring(program *score.Program) time.Time {
	at := p.At()
	if p.prior != nil && !p.prior.ValidUntil.IsZero() {
		if half := p.prior.ValidUntil.Add(-program.ValidFor() / 2); at.IsZero() || half.Before(at) {
			at = half
		}
	}
	return at
}

// observe replaces what p knows of its subject.
func (p *pair) observe(in *input) {
	p.sequence, p.receivedAt = in.Message.Sequence, in.Message.ReceivedAt
	p.prior, p.ours, p.basis = nil, false, position{}
	if s, ok := in.Payload.(*schemas.Score); ok {
		state := score.StateOf(s, in.Message.ReceivedAt)
		for i := range state.Items {
			// The decoded texts would keep their own copies alive.
			it := &state.Items[i]
			it.Name, it.Reason = unique.Make(it.Name).Value(), unique.Make(it.Reason).Value()
		}
		p.prior = &state
		_, p.ours = s.Basis[events.StreamConfig]
		p.basis = position{metrics: s.Basis[events.StreamMetrics], hub: s.Basis[events.StreamHub], config: s.Basis[events.StreamConfig]}
	}
}
