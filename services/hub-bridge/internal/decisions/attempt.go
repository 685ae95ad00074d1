package decisions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
)

// attempt does what the event asks for, by the hub's state as w has it.
func (a *Applier) attempt(ctx context.Context, w *writes, read Read, name string) error {
	if read.Deleted != nil {
		a.moves.forget(w.entry.Subject)
		return a.prune(ctx, w, read, name)
	}
	v := bridge.Judge(read.Decision, w.placement)
	if v.Action == bridge.Apply {
		return a.apply(ctx, w, read)
	}
	a.moves.forget(w.entry.Subject)
	if v.Action == bridge.Release {
		if err := w.release(ctx); err != nil {
			return err
		}
		if v.Reason != "" {
			a.Native(w.placement.Namespace, w.placement.Name)
		}
	}
	if v.Reason != "" {
		a.answer(ctx, w.entry, read, schemas.OutcomeRefused, v, nil)
	}
	return nil
}

// apply brings the hub to what the decision says.
func (a *Applier) apply(ctx context.Context, w *writes, read Read) error {
	groups, err := bridge.Desired(read.Decision, w.placement.Spec.SortBy)
	if err != nil {
		return a.refuse(ctx, w.entry, read, badDecision(err))
	}
	stock := bridge.TakeStock(w.placement, w.objects)
	if err := w.deleteNamed(ctx, stock.Stale); err != nil {
		return err
	}
	move, again := a.move(ctx, w, stock, groups)
	groups = move.With(stock, groups, w.placement.Spec.SortBy)
	plan := bridge.PlanDecision(w.placement.Name, stock, groups)
	for _, step := range plan.Steps {
		if err := w.step(ctx, step); err != nil {
			return err
		}
	}
	status, differs := bridge.PlacementStatus(w.placement, read.Decision, groups, plan.Pages, a.Clock.Now())
	if differs {
		if err := w.status(ctx, status); err != nil {
			return err
		}
	}
	a.answer(ctx, w.entry, read, w.outcome(), applied(stock, move), w.refs(plan.Pages))
	w.again = again
	return nil
}

// applied is what there is to say of a decision that the hub holds.
func applied(stock bridge.Stock, move bridge.Overlap) bridge.Verdict {
	var v bridge.Verdict
	var says []string
	if move.Over {
		v.Reason = bridge.ReasonOverlapOver
	}
	if len(move.Late) > 0 {
		v.Reason = bridge.ReasonOverlapExpired
		says = append(says, "left when the time of the overlap was over, though nothing says that what they had has arrived: "+named(move.Late))
	}
	if len(move.Leaving) > 0 {
		v.Reason = bridge.ReasonOverlap
		says = append(says, "still there until those that take their place have arrived: "+named(move.Names()))
	}
	if foreign := foreignMessage(stock); foreign != "" {
		says = append(says, foreign)
	}
	v.Message = strings.Join(says, "; ")
	return v
}

// named lists names, ten at most.
func named(names []string) string {
	const most = 10
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func badDecision(cause error) *events.BadInput {
	bad := &events.BadInput{Reason: bridge.ReasonBadDecision, Err: cause}
	var field *schemas.FieldError
	if errors.As(cause, &field) {
		bad.Field = field.Field
	}
	return bad
}

// refuse refuses, and keeps among the dead letters, a decision that no retry
// mends: it contradicts itself, or the hub does not take what it asks for.
func (a *Applier) refuse(ctx context.Context, entry *Entry, read Read, bad *events.BadInput) error {
	a.moves.forget(entry.Subject)
	if a.answers.refused(entry.Subject, entry.Sequence, bad.Reason) {
		return nil
	}
	reading, cancel := context.WithTimeout(ctx, buryTimeout)
	defer cancel()
	m, err := a.Bus.Last(reading, events.StreamDecisions, entry.Subject)
	if err != nil {
		return err
	}
	if m.Sequence == entry.Sequence {
		if err := a.Bury(reading, m, bad); err != nil {
			return err
		}
	}
	a.Log.Warn("refused a decision", "subject", entry.Subject, "sequence", entry.Sequence, "reason", bad.Reason, "field", bad.Field, "error", bad)
	a.answer(ctx, entry, read, schemas.OutcomeRefused, bridge.Verdict{Reason: bad.Reason, Message: bad.Error()}, nil)
	return nil
}

func foreignMessage(stock bridge.Stock) string {
	if len(stock.Foreign) == 0 {
		return ""
	}
	return fmt.Sprintf("others wrote PlacementDecisions with this Placement's label too, which readers count in: %v", stock.Foreign)
}

// prune deletes what a tombstone ends.
func (a *Applier) prune(ctx context.Context, w *writes, read Read, name string) error {
	living := ""
	if w.placement != nil {
		living = string(w.placement.UID)
	}
	for _, o := range bridge.Orphans(name, read.Deleted.UID, living, w.objects) {
		if err := w.delete(ctx, o); err != nil {
			return err
		}
	}
	a.answer(ctx, w.entry, read, w.outcome(), bridge.Verdict{}, w.written)
	return nil
}

func (a *Applier) answer(ctx context.Context, e *Entry, read Read, outcome string, v bridge.Verdict, objects []schemas.ObjectRef) {
	s, err := events.ParseSubject(e.Subject)
	if err != nil {
		return // it was parsed when the event was read
	}
	r := receipt.Answer{
		Kind: events.KindPlacement, Namespace: s.Namespace, Name: s.Name,
		Subject: e.Subject, Sequence: e.Sequence, ID: read.ID, ReceivedAt: e.ReceivedAt,
		Outcome: outcome, Reason: v.Reason, Message: v.Message, Objects: objects,
	}
	if read.Decision != nil {
		r.Origin = read.Decision.Origin
	}
	a.Explain(r, read.Decision)
	a.answers.give(ctx, r)
}
