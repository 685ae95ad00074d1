package requests

import (
	"context"
	"errors"
	"fmt"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
)

// answer records what became of a request.
func (a *Applier) answer(ctx context.Context, e *Entry, p *clusterv1beta1.Placement, outcome, reason, message string) {
	s, err := events.ParseSubject(e.Subject)
	if !a.memory.news(e, p, answered{outcome, reason}) || err != nil {
		return
	}
	var objects []schemas.ObjectRef
	if p != nil {
		objects = []schemas.ObjectRef{{Kind: schemas.PlacementKind, Namespace: p.Namespace, Name: p.Name, ResourceVersion: p.ResourceVersion}}
	}
	a.Record(ctx, receipt.Answer{
		Kind: s.Kind, Namespace: s.Namespace, Name: s.Name,
		Subject: e.Subject, Sequence: e.Sequence, ID: e.Value.id, ReceivedAt: e.ReceivedAt,
		Outcome: outcome, Reason: reason, Message: message, Objects: objects,
	})
}

// refuse answers a request that no retry mends, once, and keeps it among the
// dead letters.
func (a *Applier) refuse(ctx context.Context, e *Entry, bad *events.BadInput, consequence string) error {
	burying, cancel := context.WithTimeout(ctx, buryTimeout)
	defer cancel()
	if err := a.Bury(burying, e.Value.message, bad); err != nil {
		return err
	}
	a.answer(ctx, e, nil, schemas.OutcomeRefused, bad.Reason, bad.Error()+consequence)
	return nil
}

// overtaken answers the requests that newer ones took the place of.
func (a *Applier) overtaken(ctx context.Context, subject string) error {
	for _, e := range a.memory.open(subject) {
		if e.Value.err == nil {
			a.answer(ctx, e, nil, schemas.OutcomeSuperseded, bridge.ReasonNewerDecision, "a newer request took its place")
			continue
		}
		if err := a.refuse(ctx, e, badInput(e.Value.err), ""); err != nil {
			a.memory.overtake(e)
			return err
		}
	}
	return nil
}

// badInput is err, which is one if it came from events.Read.
func badInput(err error) *events.BadInput {
	var bad *events.BadInput
	if !errors.As(err, &bad) {
		bad = &events.BadInput{Reason: bridge.ReasonRefusedByHub, Err: err}
	}
	return bad
}

// owned reports whether the hub's Placement is the bus's: it carries the
// marks, or somebody has taken them off what the bridge made.
func (a *Applier) owned(ctx context.Context, subject string, have *clusterv1beta1.Placement) (bool, error) {
	if bridge.FromBus(have) {
		return true, nil
	}
	if a.memory.get(subject).foreign == string(have.UID) {
		return false, nil
	}
	made, err := a.Hub.MadePlacement(ctx, have)
	if err == nil && !made {
		a.memory.isForeign(subject, string(have.UID))
	}
	return made, err
}

// earlier returns the last request before e that can be read, nil for none
// that the bus still has. The stream's leader is asked: a server that is
// behind could name an older one.
func (a *Applier) earlier(ctx context.Context, e *Entry) (*Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	var found *Entry
	for position := uint64(0); ; {
		m, err := a.History.Next(ctx, events.StreamConfig, e.Subject, position)
		switch {
		case errors.Is(err, events.ErrNotFound) || err == nil && m.Sequence >= e.Sequence:
			return found, nil
		case err != nil:
			return nil, fmt.Errorf("the requests before %s %d: %w", e.Subject, e.Sequence, err)
		}
		position = m.Sequence
		if kept := Keep(events.Update{Message: m}); kept.err == nil {
			found = &Entry{Subject: m.Subject, Sequence: m.Sequence, ReceivedAt: m.ReceivedAt, Value: kept}
		}
	}
}

// historyTimeout bounds the reading of a subject's history, one event at a
// time.
const historyTimeout = 30 * time.Second
