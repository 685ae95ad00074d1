package writer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestDeletedPlacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a")
		h.place("train", `{}`)
		h.place("other", `{}`)
		synctest.Wait()
		h.delete(events.KindPlacement, "default", "train", "uid-train")
		synctest.Wait()
		if d := h.last("train"); d != nil {
			t.Fatal("the decision has outlived its Placement")
		}
		m, err := b.Last(t.Context(), events.StreamDecisions, decisionSubject("train"))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := events.Read(m); err != nil || r.Payload.(*schemas.Deleted).UID != "uid-train" {
			t.Errorf("tombstone %+v, %v", r.Payload, err)
		}
		// Created again, it has no past.
		h.place("train", `{}`, func(p *schemas.Placement) { p.UID = "second" })
		synctest.Wait()
		if d := h.last("train"); d == nil || d.Cause != placement.CauseFirst || d.Placement.UID != "second" || d.Previous != 0 {
			t.Errorf("decision of the new object: %+v", d)
		}
		// Deleted while no replica runs.
		stop()
		h.delete(events.KindPlacement, "default", "other", "")
		start(t, b.Peer(), nil)
		synctest.Wait()
		if d := h.last("other"); d != nil {
			t.Error("the decision of a Placement that was deleted while down is still there")
		}
	})
}

func TestTombstoneOfAnotherObjectEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a")
		h.place("train", `{}`)
		synctest.Wait()
		h.delete(events.KindPlacement, "default", "train", "an older one")
		synctest.Wait()
		if d := h.last("train"); d == nil {
			t.Error("the decision is gone, though another object was deleted")
		}
	})
}

func TestPurgedPlacementKeepsItsDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		peer := b.Peer()
		start(t, peer, nil)
		h.fleet("a")
		h.place("train", `{}`)
		synctest.Wait()
		b.Purge(events.HubSubject(events.KindPlacement, "default", "train"))
		peer.Disconnect()
		peer.Reconnect()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if d := h.last("train"); d == nil {
			t.Error("a decision was deleted without a tombstone of its Placement")
		}
	})
}

func TestNativePlacementIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a", "b")
		native := func(p *schemas.Placement) { p.Direct = false }
		h.place("train", `{"numberOfClusters":1}`, native)
		h.publish(decisionSubject("train"), schemas.TypePlacementDecided, bridge, &schemas.PlacementDecision{
			Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: "uid-train"}, Mode: schemas.ModeNative,
			Scheduler: placement.SchedulerOCM, Clusters: []schemas.SelectedCluster{{Name: "b"}}, Cause: "Observed", Now: time.Now(),
		})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if all, _ := decisions(t, b, "train"); len(all) != 1 {
			t.Fatalf("%d decisions of a native Placement, want OCM's alone", len(all))
		}
		// Made direct, it starts from what OCM selected.
		h.place("train", `{"numberOfClusters":1}`)
		synctest.Wait()
		if d := h.last("train"); d.Cause != placement.CauseAdopted || d.Clusters[0].Name != "b" || d.Previous == 0 {
			t.Errorf("adopted as %v because of %s", d.Clusters, d.Cause)
		}
	})
}
