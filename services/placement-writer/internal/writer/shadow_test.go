package writer

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// inShadow makes a Placement that OCM decides be decided in shadow too.
func inShadow(p *schemas.Placement) {
	p.Direct, p.Annotations = false, map[string]string{schemas.AnnotationMode: schemas.ModeShadow}
}

func native(p *schemas.Placement) { p.Direct = false }

// ocm says what OCM has selected, as the bridge does.
func (h hub) ocm(name string, clusters ...string) {
	h.t.Helper()
	ref := schemas.PlacementRef{Namespace: "default", Name: name, UID: "uid-" + name, Generation: 1}
	observed := &schemas.ObservedDecision{Placement: ref, Writer: placement.SchedulerOCM}
	d := &schemas.PlacementDecision{
		Placement: ref, Mode: schemas.ModeNative, Scheduler: placement.SchedulerOCM, Cause: "ObservedOnHub", Now: time.Now(), Clusters: []schemas.SelectedCluster{},
	}
	for _, cluster := range clusters {
		observed.Clusters = append(observed.Clusters, schemas.ObservedCluster{Name: cluster})
		d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: cluster})
	}
	ack := h.publish(events.HubSubject(events.KindPlacementDecision, "default", name), schemas.TypeHubPlacementDecision, bridge, observed)
	d.Basis = map[string]uint64{events.StreamHub: ack.Sequence}
	h.publish(decisionSubject(name), schemas.TypePlacementDecided, bridge, d)
}

// deletedForOCM deletes a Placement, and says that OCM's decision went with it.
func (h hub) deletedForOCM(name string) {
	h.t.Helper()
	gone := &schemas.Deleted{Namespace: "default", Name: name, UID: "uid-" + name}
	h.delete(events.KindPlacement, "default", name, gone.UID)
	h.publish(events.HubSubject(events.KindPlacementDecision, "default", name), schemas.TypeHubPlacementDecisionDeleted, bridge, gone, events.Tombstone())
	h.publish(decisionSubject(name), schemas.TypePlacementDecisionDeleted, bridge, gone, events.Tombstone())
}

// shadowsOf returns all shadow decisions of a Placement that the bus holds, and
// whether the last event is one.
func shadowsOf(t testing.TB, b *eventstest.Bus, name string) (all []*schemas.PlacementDecision, ended bool) {
	t.Helper()
	messages := b.Messages(events.StreamDecisions)
	messages = slices.DeleteFunc(messages, func(m events.Message) bool {
		return m.Subject != events.DecisionSubject(events.KindShadow, "default", name)
	})
	var before uint64
	for i, m := range messages {
		forgotten := i == 0 && len(messages) == 32 // as many as the stream keeps
		r, err := events.Read(m)
		if err != nil {
			t.Fatal(err)
		}
		d, ok := r.Payload.(*schemas.PlacementDecision)
		if ended = !ok; ended {
			all, before = nil, 0
			continue
		}
		if d.Mode != schemas.ModeShadow || d.Scheduler != placement.SchedulerSpokewire || d.Previous != before && !forgotten {
			t.Errorf("shadow decision %d is %s by %s after %d, want one history", m.Sequence, d.Mode, d.Scheduler, d.Previous)
		}
		all, before = append(all, d), m.Sequence
	}
	return all, ended
}

func lastShadow(t testing.TB, b *eventstest.Bus, name string, want ...string) *schemas.PlacementDecision {
	t.Helper()
	all, ended := shadowsOf(t, b, name)
	if len(all) == 0 || ended {
		t.Fatalf("there is no shadow decision of %s", name)
	}
	d := all[len(all)-1]
	if got := placement.SelectedNames(d); !slices.Equal(got, want) {
		t.Errorf("in shadow %s selects %v (%s), want %v", name, got, d.Message, want)
	}
	return d
}

func TestShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		w, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.score("a", 90, time.Hour)
		h.score("b", 50, time.Hour)
		h.place("train", onGPU, native)
		h.ocm("train", "b")
		synctest.Wait()
		if all, _ := shadowsOf(t, b, "train"); len(all) > 0 {
			t.Fatalf("a native Placement is decided: %+v", all)
		}
		h.place("train", onGPU, inShadow)
		synctest.Wait()
		if d := lastShadow(t, b, "train", "a"); d.Cause != placement.CauseAdopted || !slices.Equal(d.Removed, []string{"b"}) || d.Basis[events.StreamScores] == 0 {
			t.Errorf("the first shadow decision does not go on from OCM's: %+v", d)
		}
		agreement := func(want int, verdict string) {
			t.Helper()
			for _, m := range decidertest.Series(t, w.counts.shadowPlacements) {
				if m.GetLabel()[0].GetValue() == verdict && int(m.GetGauge().GetValue()) != want {
					t.Errorf("%v Placements %s, want %d", m.GetGauge().GetValue(), verdict, want)
				}
			}
		}
		agreement(1, shadowDiffers)
		h.ocm("train", "a")
		synctest.Wait()
		agreement(1, shadowAgrees)
		h.score("b", 100, time.Hour)
		synctest.Wait()
		lastShadow(t, b, "train", "b")
		agreement(1, shadowDiffers)
		if n := decidertest.Total(t, w.counts.decisions) + decidertest.Total(t, w.counts.moves); n != 0 {
			t.Errorf("decisions in shadow are counted as decisions: %d", n)
		}
		all, _ := decisions(t, b, "train")
		if slices.ContainsFunc(all, func(d *schemas.PlacementDecision) bool { return d.Mode != schemas.ModeNative }) || len(all) != 2 {
			t.Errorf("OCM's history is %+v", all)
		}
		// A restart publishes nothing.
		before := len(b.Messages(events.StreamDecisions))
		stop()
		start(t, b.Peer(), nil)
		synctest.Wait()
		if now := len(b.Messages(events.StreamDecisions)); now != before {
			t.Errorf("a restart publishes %d decisions", now-before)
		}
	})
}

// TestShadowEnds: with the mode, with the Placement, and while nobody is
// there to see it.
func TestShadowEnds(t *testing.T) {
	for name, end := range map[string]func(hub){
		"native again": func(h hub) { h.place("train", onGPU, native) },
		"direct":       func(h hub) { h.place("train", onGPU) },
		"deleted":      func(h hub) { h.deletedForOCM("train") },
	} {
		for _, running := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := eventstest.NewBus()
					h := hub{t, b}
					w, stop := start(t, b.Peer(), nil)
					h.fleet("a", "b")
					h.score("a", 90, time.Hour)
					h.score("b", 50, time.Hour)
					h.place("train", onGPU, inShadow)
					h.ocm("train", "b")
					synctest.Wait()
					lastShadow(t, b, "train", "a")
					if !running {
						stop()
					}
					end(h)
					if !running {
						w, _ = start(t, b.Peer(), nil)
					}
					synctest.Wait()
					if _, ended := shadowsOf(t, b, "train"); !ended {
						t.Error("the shadow has outlived its end")
					}
					if name == "deleted" {
						if len(w.desks) != 0 || len(w.users) != 0 || w.shadows.desks != 0 {
							t.Errorf("%d desks, %d of them in shadow, and users %v are left", len(w.desks), w.shadows.desks, w.users)
						}
						return
					}
					if name == "direct" {
						if d := h.await("train", "a"); d.Cause != placement.CauseAdopted || d.Previous == 0 {
							t.Errorf("the direct decision does not go on from OCM's: %+v", d)
						}
					}
					h.place("train", onGPU, inShadow)
					synctest.Wait()
					if d := lastShadow(t, b, "train", "a"); d.Previous != 0 {
						t.Errorf("a new shadow goes on from the old one: %+v", d)
					}
				})
			})
		}
	}
}

// TestModesInAnyOrder goes from each way in which a Placement is decided to
// each other one, with a replica that sees every change or one that is started
// after each. No cluster is ever moved by that, and each history has exactly
// what belongs there.
func TestModesInAnyOrder(t *testing.T) {
	modes := []struct {
		name   string
		change func(*schemas.Placement)
	}{
		{schemas.ModeNative, native},
		{schemas.ModeShadow, inShadow},
		{schemas.ModeDirect, func(*schemas.Placement) {}},
	}
	for _, restarts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := eventstest.NewBus()
			h := hub{t, b}
			_, stop := start(t, b.Peer(), nil)
			h.fleet("a", "b")
			h.ocm("train", "b")
			enter := func(from, to int) {
				t.Helper()
				before := h.last("train")
				h.place("train", `{"numberOfClusters":1}`, modes[to].change) // Steady and Balance
				if restarts {
					stop()
					_, stop = start(t, b.Peer(), nil)
				}
				synctest.Wait()
				if to != from && modes[from].name == schemas.ModeDirect {
					h.ocm("train", "b") // as the bridge says again
					synctest.Wait()
				}
				shadow, ended := shadowsOf(t, b, "train")
				last, changed := h.last("train"), to != from
				switch modes[to].name {
				case schemas.ModeDirect:
					if last.Mode != schemas.ModeDirect || changed && (last.Cause != placement.CauseAdopted || last.Previous == 0) {
						t.Errorf("from %s to direct: %+v", modes[from].name, last)
					}
				case schemas.ModeShadow:
					if len(shadow) != 1 || ended || shadow[0].Cause != placement.CauseAdopted || len(shadow[0].Added)+len(shadow[0].Removed) > 0 {
						t.Errorf("from %s to shadow: ended %t, %+v", modes[from].name, ended, shadow)
					}
					fallthrough
				default:
					if last.Mode != schemas.ModeNative || modes[from].name != schemas.ModeDirect && !last.Now.Equal(before.Now) {
						t.Errorf("from %s to %s: %+v", modes[from].name, modes[to].name, last)
					}
				}
				if modes[to].name != schemas.ModeShadow && (len(shadow) > 0 && !ended) {
					t.Errorf("from %s to %s the shadow goes on: %+v", modes[from].name, modes[to].name, shadow)
				}
				if len(last.Added)+len(last.Removed) > 0 || !slices.Equal(placement.SelectedNames(last), []string{"b"}) {
					t.Errorf("from %s to %s a cluster moved: %+v", modes[from].name, modes[to].name, last)
				}
			}
			at := 0
			for from := range modes {
				for to := range modes {
					enter(at, from)
					enter(from, to)
					at = to
				}
			}
		})
	}
}

// TestShadowTakesNoPlace: what would be decided does not count for Balance.
func TestShadowTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.place("shadow", onBalance, inShadow)
		synctest.Wait()
		lastShadow(t, b, "shadow", "a")
		h.place("direct", onBalance)
		synctest.Wait()
		h.await("direct", "a")
		h.place("second", onBalance)
		synctest.Wait()
		h.await("second", "b")
	})
}

// TestShadowWinsOverDirect: with both annotations nobody decides what counts.
func TestShadowWinsOverDirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a")
		h.place("train", `{}`, inShadow, func(p *schemas.Placement) { p.Direct = true })
		synctest.Wait()
		lastShadow(t, b, "train", "a")
		if _, err := b.Last(t.Context(), events.StreamDecisions, decisionSubject("train")); !errors.Is(err, events.ErrNotFound) {
			t.Errorf("a Placement in shadow has a decision that counts: %v", err)
		}
	})
}

// TestGoesOnFromWhatOCMWroteLast: OCM's last write is in no decision yet when
// the Placement is taken from it.
func TestGoesOnFromWhatOCMWroteLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.ocm("train", "a")
		h.publish(events.HubSubject(events.KindPlacementDecision, "default", "train"), schemas.TypeHubPlacementDecision, bridge, &schemas.ObservedDecision{
			Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: "uid-train"},
			Clusters:  []schemas.ObservedCluster{{Name: "b"}}, Writer: placement.SchedulerOCM,
		})
		h.place("train", `{"numberOfClusters":1}`) // Steady and Balance
		start(t, b.Peer(), nil)
		synctest.Wait()
		if d := h.await("train", "b"); d.Cause != placement.CauseAdopted || d.Previous == 0 || len(d.Added)+len(d.Removed) > 0 {
			t.Errorf("decision %+v, want OCM's last selection adopted", d)
		}
	})
}
