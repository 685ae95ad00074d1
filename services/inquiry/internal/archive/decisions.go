package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/intake"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Decision is one of the log.
type Decision struct {
	*schemas.PlacementDecision
	Sequence   uint64
	ReceivedAt time.Time
}

// Ref names it.
func (d *Decision) Ref() schemas.DecisionRef {
	return schemas.DecisionRef{Namespace: d.Placement.Namespace, Name: d.Placement.Name, Sequence: d.Sequence, Now: d.Now}
}

// Decision reads a Placement's decision at a sequence, or with 0 its last: of
// one in shadow what Spokewire decided last. It returns a *events.Refusal
// where the log has none.
func (a *Archive) Decision(ctx context.Context, key placement.Key, sequence uint64) (*Decision, error) {
	var m events.Message
	var err error
	if sequence == 0 {
		m, err = a.lastDecision(ctx, key)
	} else {
		m, err = a.Bus.Next(ctx, events.StreamDecisions, decisionsOf(events.EncodeToken(key.Namespace), events.EncodeToken(key.Name)), sequence-1)
	}
	d := decisionIn(m)
	switch {
	case err != nil && !errors.Is(err, events.ErrNotFound):
		return nil, fmt.Errorf("reading %s: %w", events.StreamDecisions, err)
	case sequence != 0 && (err != nil || m.Sequence != sequence || d == nil):
		return nil, events.Refusef(events.RefusedUnknown, "sequence", "is %d: the log has no decision of %s there (it keeps the last 32 of each Placement)", sequence, key)
	case err != nil || d == nil:
		return nil, events.Refusef(events.RefusedUnknown, "name", "is %q: the log has no decision of it", key)
	}
	return &Decision{PlacementDecision: d, Sequence: m.Sequence, ReceivedAt: m.ReceivedAt}, nil
}

// lastDecision prefers the shadow's, which ends with the shadow.
func (a *Archive) lastDecision(ctx context.Context, key placement.Key) (events.Message, error) {
	m, err := a.lastReadable(ctx, events.StreamDecisions, events.DecisionSubject(events.KindShadow, key.Namespace, key.Name))
	if err == nil && decisionIn(m) != nil || err != nil && !errors.Is(err, events.ErrNotFound) {
		return m, err
	}
	return a.lastReadable(ctx, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, key.Namespace, key.Name))
}

func (a *Archive) lastReadable(ctx context.Context, stream, subject string) (events.Message, error) {
	m, err := a.Bus.Last(ctx, stream, subject)
	if err != nil {
		return m, err
	}
	if _, refused := intake.Read(m); refused == nil {
		return m, nil
	}
	before, _, err := a.before(ctx, m)
	switch {
	case err != nil:
		return m, err
	case before == nil:
		return m, events.ErrNotFound
	}
	return before.Message, nil
}

// decisionsOf covers the decisions of Placements, in shadow and otherwise,
// with some of other objects, which decisionIn leaves out.
func decisionsOf(namespace, name string) string { return "sw.decision.*." + namespace + "." + name }

// Decisions calls fn with the decisions of a period, oldest first, until it
// returns false.
func (a *Archive) Decisions(ctx context.Context, q *schemas.AuditAsk, fn func(*Decision) (bool, error)) error {
	namespace, name := "*", "*"
	if q.Namespace != "" {
		namespace = events.EncodeToken(q.Namespace)
	}
	if q.Name != "" {
		name = events.EncodeToken(q.Name)
	}
	filter := decisionsOf(namespace, name)
	after, err := a.start(ctx, filter, q)
	for err == nil {
		var m events.Message
		if m, err = a.Bus.Next(ctx, events.StreamDecisions, filter, after); err != nil {
			break
		}
		if !q.To.IsZero() && m.ReceivedAt.After(q.To) {
			return nil
		}
		after = m.Sequence
		d := decisionIn(m)
		if d == nil || m.ReceivedAt.Before(q.From) {
			continue
		}
		more, err := fn(&Decision{PlacementDecision: d, Sequence: m.Sequence, ReceivedAt: m.ReceivedAt})
		if err != nil || !more {
			return err
		}
	}
	if errors.Is(err, events.ErrNotFound) {
		return nil
	}
	return fmt.Errorf("reading %s: %w", events.StreamDecisions, err)
}

// start returns a position before the period's first decision, and not much
// before: times grow with the sequence, so it is found by halving.
func (a *Archive) start(ctx context.Context, filter string, q *schemas.AuditAsk) (uint64, error) {
	extent, err := a.Bus.Past(ctx, events.Past{Stream: events.StreamDecisions, Subjects: []string{"sw.nothing"}}, func(events.Message) error { return nil })
	if err != nil {
		return 0, err
	}
	low, high := q.After, max(q.After, extent.Position)
	for high-low > 1 {
		middle := low + (high-low)/2
		m, err := a.Bus.Next(ctx, events.StreamDecisions, filter, middle)
		switch {
		case err != nil && !errors.Is(err, events.ErrNotFound):
			return 0, err
		case err == nil && m.ReceivedAt.Before(q.From):
			low = middle
		default:
			high = middle
		}
	}
	return low, nil
}
