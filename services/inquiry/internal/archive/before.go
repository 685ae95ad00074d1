package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/intake"
	"github.com/spokewire/spokewire/pkg/events"
)

// later is what counts only together with what its subject said before.
type later struct {
	refused   []refusal
	withdrawn []events.Received // scores without a value
}

// refusal is a last event that cannot be read, or that no decision can rest
// on.
type refusal struct {
	message events.Message
	cause   error
}

func (r *reading) takeLater(l *later) error {
	for i := range l.refused {
		if err := r.takeRefused(&l.refused[i], l); err != nil {
			return err
		}
	}
	for i := range l.withdrawn {
		if err := r.takeWithdrawn(&l.withdrawn[i]); err != nil {
			return err
		}
	}
	return nil
}

// takeRefused takes in what counts in the place of a refused event for those
// who decide: the last event of its subject before it that is not refused.
func (r *reading) takeRefused(x *refusal, l *later) error {
	stream, subject := x.message.Stream, x.message.Subject
	if !r.Matters(subject) {
		return nil
	}
	before, lost, err := r.archive.before(r.ctx, x.message)
	switch {
	case err != nil:
		return err
	case lost && r.decision != nil:
		r.lose(stream, subject)
	case before != nil && !r.shallow && inquiry.Withdrawn(before):
		l.withdrawn = append(l.withdrawn, *before)
	case before != nil:
		r.Take(before)
	}
	r.Refuse(subject, x.cause)
	return nil
}

// maxBack bounds how far back a withdrawn score is followed: as many events
// as the stream keeps.
const maxBack = 64

// takeWithdrawn takes in a score without a value after what was before it.
func (r *reading) takeWithdrawn(last *events.Received) error {
	r.Withdrawn = true
	chain := []*events.Received{last}
	for len(chain) < maxBack && inquiry.Withdrawn(chain[len(chain)-1]) {
		before, _, err := r.archive.before(r.ctx, chain[len(chain)-1].Message)
		if err != nil {
			return err
		}
		if before == nil {
			break
		}
		chain = append(chain, before)
	}
	for _, received := range slices.Backward(chain) {
		r.Take(received)
	}
	return nil
}

// before returns the last event of m's subject before m that is not refused,
// nil where there is none among as many as the stream keeps; lost says that
// there may have been one.
func (a *Archive) before(ctx context.Context, m events.Message) (found *events.Received, lost bool, err error) {
	keep := events.PerSubject(m.Stream)
	for passed := int64(1); passed < keep && m.Sequence > 1; passed++ {
		before, lost, err := a.step(ctx, m)
		if err != nil || before == nil {
			return nil, lost, err
		}
		if received, err := intake.Read(*before); err == nil {
			return &received, false, nil
		}
		m = *before
	}
	return nil, false, nil
}

// step returns the last event of m's subject before m.
func (a *Archive) step(ctx context.Context, m events.Message) (before *events.Message, lost bool, err error) {
	past := events.Past{Stream: m.Stream, Subjects: []string{m.Subject}, Position: m.Sequence - 1}
	extent, err := a.Bus.Past(ctx, past, func(m events.Message) error {
		before = &m
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", m.Stream, err)
	}
	return before, len(extent.Lost) > 0, nil
}
