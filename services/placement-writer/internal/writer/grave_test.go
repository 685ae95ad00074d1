package writer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestNoDeskIsLeftOfADeletedPlacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		w, _ := start(t, b.Peer(), nil)
		h.fleet("a")
		name := func(i int) string { return fmt.Sprintf("p%d", i) }
		for i := range 20 {
			h.place(name(i), onGPU)
		}
		h.score("a", 1, time.Hour)
		synctest.Wait()
		for i := range 20 {
			h.delete(events.KindPlacement, "default", name(i), "uid-"+name(i))
		}
		synctest.Wait()
		if len(w.desks) != 0 || len(w.users) != 0 || w.line.Len() != 0 {
			t.Errorf("%d desks, users %v and a line of %d are left", len(w.desks), w.users, w.line.Len())
		}

		// Created again it goes on behind the tombstone, without a conflict.
		published := len(b.Messages(events.StreamDecisions))
		h.place("p0", onGPU, func(p *schemas.Placement) { p.UID = "second" })
		synctest.Wait()
		if d := h.last("p0"); d == nil || d.Cause != placement.CauseFirst || d.Placement.UID != "second" {
			t.Errorf("decision of the new object: %+v", d)
		}
		if n := len(b.Messages(events.StreamDecisions)) - published; n != 1 || len(w.desks) != 1 {
			t.Errorf("%d events and %d desks, want one of each", n, len(w.desks))
		}
	})
}

// TestDecisionAfterTheTombstone: one that another replica published before it
// knew, and did not live to end.
func TestDecisionAfterTheTombstone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.delete(events.KindPlacement, "default", "train", "uid-train")
		synctest.Wait()
		h.publish(decisionSubject("train"), schemas.TypePlacementDecided, events.ServiceSource(Service), &schemas.PlacementDecision{
			Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: "uid-train"}, Mode: schemas.ModeDirect,
			Scheduler: placement.SchedulerSpokewire, Clusters: []schemas.SelectedCluster{}, Cause: "First", Now: time.Now(),
		})
		synctest.Wait()
		if d := h.last("train"); d != nil {
			t.Errorf("the decision has outlived its Placement: %+v", d)
		}
	})
}

func TestOldGravesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		w, _ := start(t, b.Peer(), nil)
		for round := range 3 {
			for i := range minSweep {
				name := fmt.Sprintf("p%d-%d", round, i)
				h.delete(events.KindPlacement, "default", name, "uid")
			}
			synctest.Wait()
			time.Sleep(graveHold + time.Second)
		}
		if n := len(w.graves); n > minSweep+1 {
			t.Errorf("%d graves, want no old ones", n)
		}
	})
}
