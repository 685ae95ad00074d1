// Package native tells the bus what OCM decides for the Placements that it
// schedules itself.
package native

import (
	"context"
	"errors"
	"log/slog"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/decisions"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
)

// Hub is what is read from the hub.
type Hub interface {
	// NativeState returns a Placement, nil for none, and its
	// PlacementDecisions.
	NativeState(namespace, name string) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision)
}

// Bus is what is needed of the bus.
type Bus interface {
	events.Publisher
	events.Getter
}

// Publisher publishes OCM's decisions.
type Publisher struct {
	Service string
	Hub     Hub
	Bus     Bus
	Ledger  *decisions.Ledger
	// Overtaken is told of the event that OCM's decision was published behind.
	Overtaken func(*decisions.Entry)
	Clock     *events.Clock
	Log       *slog.Logger
}

// Publish publishes OCM's decision for a Placement, if there is a new one.
// observed is the position in SW_HUB that it rests on.
func (p *Publisher) Publish(ctx context.Context, namespace, name string, observed uint64) error {
	if !p.Ledger.Synced() {
		return errNotSynced
	}
	subject := events.DecisionSubject(events.KindPlacement, namespace, name)
	last := p.Ledger.Get(subject)
	previous := previousOf(last)
	placement, pages := p.Hub.NativeState(namespace, name)
	if placement == nil {
		return p.end(ctx, subject, last, previous)
	}
	d := bridge.Native(placement, pages, previous, p.Clock.Now())
	if d == nil {
		return nil
	}
	if observed > 0 {
		d.Basis = map[string]uint64{events.StreamHub: observed}
	}
	if last != nil {
		d.Previous = last.Sequence
	}
	return p.publish(ctx, subject, schemas.TypePlacementDecided, d, last)
}

var errNotSynced = errors.New("the decisions on the bus are not read yet")

func previousOf(last *decisions.Entry) *schemas.PlacementDecision {
	if last == nil {
		return nil
	}
	read, err := last.Value.Read()
	if err != nil {
		return nil // replaced by what OCM decides
	}
	return read.Decision
}

// end tombstones OCM's decision for a Placement that is gone.
func (p *Publisher) end(ctx context.Context, subject string, last *decisions.Entry, previous *schemas.PlacementDecision) error {
	if previous == nil || previous.Mode != schemas.ModeNative {
		return nil
	}
	return p.publish(ctx, subject, schemas.TypePlacementDecisionDeleted, &schemas.Deleted{
		Namespace: previous.Placement.Namespace, Name: previous.Placement.Name, UID: previous.Placement.UID, Reason: "the Placement was deleted",
	}, last, events.Tombstone())
}

func (p *Publisher) publish(ctx context.Context, subject, eventType string, payload schemas.Payload, last *decisions.Entry, opts ...events.PublishOption) error {
	e, err := events.New(eventType, events.ServiceSource(p.Service), payload)
	if err != nil {
		return err
	}
	var sequence uint64
	if last != nil {
		sequence = last.Sequence
	}
	ack, err := p.Bus.Publish(ctx, subject, e, append(opts, events.ExpectLast(sequence))...)
	if errors.Is(err, events.ErrConflict) {
		return errors.Join(err, p.Ledger.Reread(ctx, p.Bus, events.StreamDecisions, subject))
	}
	if err != nil {
		return err
	}
	e.DataEncoded = nil
	decided, _ := payload.(*schemas.PlacementDecision)
	deleted, _ := payload.(*schemas.Deleted)
	p.Ledger.Put(ledger.Entry[*decisions.Kept]{
		Subject: subject, Sequence: ack.Sequence, ReceivedAt: p.Clock.Now(), Value: decisions.KeepOwn(e, decided, deleted),
	})
	if last != nil {
		p.Overtaken(last)
	}
	return nil
}
