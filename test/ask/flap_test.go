package ask

import (
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestAHeldMoveFollowsFromItsInputs: what flap control remembers is in the
// decisions, and the fleet's policy is among their inputs.
func TestAHeldMoveFollowsFromItsInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	window, subject := schemas.Duration(time.Second), events.ConfigSubject(events.KindPolicy, "", schemas.DefaultPolicyName)
	w.put(subject, schemas.TypeConfigPolicy, &schemas.PlacementPolicy{
		APIVersion: schemas.PlacementPolicyAPIVersion, Kind: schemas.PlacementPolicyKind,
		Metadata: schemas.Metadata{Name: schemas.DefaultPolicyName}, Spec: schemas.PlacementPolicySpec{StabilisationWindow: &window},
	})
	for i, name := range []string{"a", "b"} {
		w.cluster(name)
		w.score(name, "gpu", int32(30-10*i))
	}
	w.place("train", one, 1)
	w.decided("train", "a")
	w.score("b", "gpu", 80)
	moved := w.decided("train", "b")
	now, _ := w.decision("train")
	w.replay("train", now.Previous, schemas.ReplayEqual)
	w.replay("train", moved, schemas.ReplayEqual)
	if held := w.at(now.Previous); held.Cause != "MoveHeld" || held.Flap == nil || now.Now.Sub(held.Now) < time.Duration(window) {
		t.Errorf("before it: %s, %+v, %v earlier", held.Cause, held.Flap, now.Now.Sub(held.Now))
	}
	w.put(subject, schemas.TypeConfigPolicyDeleted, &schemas.Deleted{Name: schemas.DefaultPolicyName})
	w.score("a", "gpu", 90)
	w.replay("train", w.decided("train", "a"), schemas.ReplayEqual)
	w.replay("train", moved, schemas.ReplayEqual)
}

// at returns the decision that stands at the sequence.
func (w *world) at(sequence uint64) *schemas.PlacementDecision {
	w.t.Helper()
	m, err := w.bus.Next(w.within(), events.StreamDecisions, events.DecisionSubject(events.KindPlacement, "default", "train"), sequence-1)
	must(w.t, err)
	r, err := events.Read(m)
	must(w.t, err)
	d, _ := r.Payload.(*schemas.PlacementDecision)
	return d
}
