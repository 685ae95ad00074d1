package requests

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// attempt does what the last request asks for, given the hub's Placement of
// that name (nil: none).
func (a *Applier) attempt(ctx context.Context, entry *Entry, have *clusterv1beta1.Placement) error {
	request, ok := entry.Value.read.Payload.(*schemas.PlacementRequest)
	if !ok {
		return a.end(ctx, entry, have)
	}
	want, err := bridge.RequestedPlacement(request)
	if err != nil {
		var field *schemas.FieldError
		errors.As(err, &field)
		return &events.BadInput{Reason: bridge.ReasonRefusedByHub, Field: field.Field, Err: fmt.Errorf("placement %s/%s: %w", request.Metadata.Namespace, request.Metadata.Name, err)}
	}
	if have == nil {
		return a.create(ctx, entry, want)
	}
	ours, err := a.owned(ctx, entry.Subject, have)
	switch {
	case err != nil:
		return err
	case !ours:
		a.answer(ctx, entry, nil, schemas.OutcomeRefused, bridge.ReasonBornOnHub,
			"the hub has a Placement of that name that was not created over the bus: edit it there, or choose another name")
		return nil
	case have.DeletionTimestamp != nil:
		return nil // created anew when it is gone
	}
	return a.update(ctx, entry, have, want)
}

// create creates what is asked for, be it anew after somebody deleted it.
func (a *Applier) create(ctx context.Context, entry *Entry, want *bridge.Manifest) error {
	created, err := a.Hub.CreatePlacement(ctx, want)
	if err != nil {
		return err
	}
	reason, message := "", ""
	if a.memory.get(entry.Subject).force == entry.Sequence {
		reason = bridge.ReasonRestored
		message = "it was deleted on the hub and created anew: the Placement was created over the bus, so delete it there (spokewire delete)"
	}
	a.answer(ctx, entry, created, schemas.OutcomeApplied, reason, message)
	return nil
}

// update makes have what was asked for. Whether the spec differs only the
// API server can tell, for it fills in defaults; it is asked once for each
// generation.
func (a *Applier) update(ctx context.Context, entry *Entry, have *clusterv1beta1.Placement, want *bridge.Manifest) error {
	merged, differs := bridge.MergeRequest(have, want)
	before := a.memory.get(entry.Subject)
	same := before.force == entry.Sequence && before.uid == string(have.UID)
	if same && before.generation == have.Generation && !differs {
		return nil
	}
	tried, err := a.Hub.TryPlacement(ctx, merged)
	if err != nil {
		return err
	}
	if !differs && equality.Semantic.DeepEqual(tried.Spec, have.Spec) {
		a.answer(ctx, entry, have, schemas.OutcomeUnchanged, "", "")
		return nil
	}
	written, err := a.Hub.UpdatePlacement(ctx, merged)
	if err != nil {
		return err
	}
	if !same {
		a.answer(ctx, entry, written, schemas.OutcomeApplied, "", "")
		return nil
	}
	a.Log.Warn("reverted an edit on the hub of a Placement that the bus owns", "namespace", have.Namespace, "placement", have.Name)
	a.answer(ctx, entry, written, schemas.OutcomeApplied, bridge.ReasonRestored,
		"an edit on the hub was reverted: the Placement was created over the bus, so change it there (spokewire apply)")
	return nil
}

// end deletes what was asked for before.
func (a *Applier) end(ctx context.Context, entry *Entry, have *clusterv1beta1.Placement) error {
	if have == nil {
		a.answer(ctx, entry, nil, schemas.OutcomeUnchanged, "", "")
		return nil
	}
	ours, err := a.owned(ctx, entry.Subject, have)
	switch {
	case err != nil:
		return err
	case !ours:
		a.answer(ctx, entry, nil, schemas.OutcomeRefused, bridge.ReasonBornOnHub, "the hub's Placement of that name was not created over the bus: delete it there")
		return nil
	}
	if err := a.Hub.DeletePlacement(ctx, have); err != nil {
		return err
	}
	a.answer(ctx, entry, have, schemas.OutcomeApplied, "", "")
	return nil
}
