package writer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestScoreMovesThePlacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		w, _ := start(t, b.Peer(), nil)
		h.fleet("spoke-1", "spoke-2")
		h.score("spoke-1", 87, time.Hour)
		h.score("spoke-2", 12, time.Hour)
		synctest.Wait()
		h.place("train", onGPU)
		synctest.Wait()
		first := h.last("train")
		if got := placement.SelectedNames(first); !slices.Equal(got, []string{"spoke-1"}) || first.Cause != placement.CauseFirst {
			t.Fatalf("selected %v because of %s", got, first.Cause)
		}
		h.score("spoke-2", 99, time.Hour)
		synctest.Wait()
		second := h.last("train")
		if got := placement.SelectedNames(second); !slices.Equal(got, []string{"spoke-2"}) || second.Message != "spoke-2 (99) overtook spoke-1 (87)" {
			t.Fatalf("selected %v: %s", got, second.Message)
		}
		if second.Origin == nil || second.Origin.Subject != events.ScoreSubject("spoke-2", "gpu") {
			t.Errorf("origin %+v, want the score of spoke-2", second.Origin)
		}
		linear(t, b, "train")
		if err := w.Ready(); err != nil {
			t.Errorf("Ready = %v", err)
		}
	})
}

func TestRestartPublishesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b", "c")
		h.score("b", 5, time.Hour)
		h.place("one", onGPU)
		h.place("two", onBalance)
		h.place("three", `{}`) // Additive: its totals change by its own decision
		h.place("four", onBalance)
		synctest.Wait()
		time.Sleep(2 * time.Minute) // past every rate limit
		synctest.Wait()
		stop()
		want := len(b.Messages(events.StreamDecisions))
		if want < 4 {
			t.Fatalf("%d decisions, want one of each Placement at least", want)
		}
		for range 3 {
			_, stop := start(t, b.Peer(), nil)
			synctest.Wait()
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			stop()
		}
		if got := len(b.Messages(events.StreamDecisions)); got != want {
			t.Errorf("%d decisions after restarts, want %d as before", got, want)
		}
	})
}

func TestWhatHappenedWhileDownIsDecidedAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.score("a", 5, time.Hour)
		h.score("b", 4, time.Hour)
		h.place("train", onGPU)
		synctest.Wait()
		stop()
		h.cluster("a", schemas.Taint{Key: "gone", Effect: "NoSelect"})
		start(t, b.Peer(), nil)
		synctest.Wait()
		d := h.last("train")
		if got := placement.SelectedNames(d); !slices.Equal(got, []string{"b"}) || d.Cause != placement.CauseTaintChanged {
			t.Errorf("selected %v because of %s, want b because of the taint", got, d.Cause)
		}
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a")
		h.score("a", 5, time.Minute)
		h.place("train", onGPU)
		synctest.Wait()
		step := func(d time.Duration, wantReason string, wantSelected int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			last := h.last("train")
			var reason string
			if len(last.Explanations) > 0 {
				reason = last.Explanations[0].Reason
			}
			if len(last.Clusters) != wantSelected || reason != wantReason {
				t.Fatalf("%d selected, explained as %s, want %d and %s", len(last.Clusters), reason, wantSelected, wantReason)
			}
		}
		step(59*time.Second, placement.ExplainedSelected, 1)
		step(1100*time.Millisecond, placement.ExplainedHeld, 1)
		step(28*time.Second, placement.ExplainedHeld, 1)
		step(2*time.Second, "StaleScore", 0)
		h.score("a", 5, time.Minute) // the same value as before
		step(0, placement.ExplainedSelected, 1)
		h.score("a", 5, time.Hour)
		step(2*time.Minute, placement.ExplainedSelected, 1)
		linear(t, b, "train")
	})
}

func TestTolerationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet()
		h.cluster("a", schemas.Taint{Key: "drain", Effect: "NoSelect", TimeAdded: time.Now()})
		h.place("train", `{"tolerations":[{"key":"drain","operator":"Exists","tolerationSeconds":30}]}`)
		synctest.Wait()
		if d := h.last("train"); len(d.Clusters) != 1 {
			t.Fatalf("%d selected while the taint is tolerated", len(d.Clusters))
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if d := h.last("train"); len(d.Clusters) != 0 || d.Cause != placement.CauseTaintChanged {
			t.Errorf("%d selected after the toleration ended, cause %s", len(d.Clusters), d.Cause)
		}
	})
}

func TestScoresAloneAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 1, time.Hour)
		h.place("train", strings.Replace(onGPU, `{`, `{"scoreRateLimit":"30s",`, 1))
		synctest.Wait()
		for i := range 100 {
			h.score("a", int32(51+i%40), time.Hour)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		all, _ := decisions(t, b, "train")
		if n := len(all); n < 4 || n > 6 {
			t.Errorf("%d decisions in 160 s, want about one every 30 s", n)
		}
		if got := all[len(all)-1].Clusters[0].Score; got != 51+99%40 {
			t.Errorf("last score %d, want the last one published", got)
		}
	})
}

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

func TestBalanceDoesNotOscillate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a", "b", "c")
		for i := range 6 {
			h.place(fmt.Sprintf("p%d", i), onBalance)
		}
		synctest.Wait()
		counts := map[string]int{}
		for i := range 6 {
			counts[h.last(fmt.Sprintf("p%d", i)).Clusters[0].Name]++
		}
		if counts["a"] != 2 || counts["b"] != 2 || counts["c"] != 2 {
			t.Errorf("six Placements on three clusters: %v", counts)
		}
		before := len(b.Messages(events.StreamDecisions))
		h.delete(events.KindPlacement, "default", "p0", "uid-p0") // another's decision alone moves nothing
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		for i := 1; i < 6; i++ {
			all, _ := decisions(t, b, fmt.Sprintf("p%d", i))
			for _, d := range all[1:] {
				if len(d.Added)+len(d.Removed) > 0 {
					t.Errorf("p%d moved: %s", i, d.Message)
				}
			}
		}
		if after := len(b.Messages(events.StreamDecisions)); after > before+6 {
			t.Errorf("%d decisions without an event", after-before)
		}
	})
}

func TestTwoReplicasWriteOneHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		rng := rand.New(rand.NewPCG(1, 2))
		one, two := b.Peer(), b.Peer()
		start(t, one, nil)
		start(t, two, nil)
		names := []string{"a", "b", "c", "d"}
		h.fleet(names...)
		for _, name := range []string{"p", "q", "r"} {
			h.place(name, onGPU)
		}
		scores := map[string]int32{}
		for i := range 300 {
			name := names[rng.IntN(len(names))]
			scores[name] = int32(rng.IntN(201) - 100)
			h.score(name, scores[name], time.Hour)
			switch {
			case i%50 == 10:
				one.Disconnect()
			case i%50 == 20:
				one.Reconnect()
			case i%3 == 0:
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		best := slices.MaxFunc(names, func(x, y string) int {
			if scores[x] != scores[y] {
				return int(scores[x] - scores[y])
			}
			return strings.Compare(y, x)
		})
		for _, name := range []string{"p", "q", "r"} {
			linear(t, b, name)
			if got := h.last(name).Clusters[0]; got.Name != best || got.Score != int64(scores[best]) {
				t.Errorf("%s selects %v, want %s with %d", name, got, best, scores[best])
			}
		}
	})
}

func TestReplicaWaitsForWhatThePriorDecisionHadSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.place("train", onGPU)
		h.score("b", 5, time.Hour)
		ahead := &schemas.PlacementDecision{
			Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: "uid-train", Generation: 0}, Mode: schemas.ModeDirect,
			Scheduler: placement.SchedulerSpokewire, Clusters: []schemas.SelectedCluster{{Name: "a"}}, Cause: "First", Now: time.Now(),
			Basis: map[string]uint64{events.StreamScores: 2, events.StreamHub: 1},
		}
		h.publish(decisionSubject("train"), schemas.TypePlacementDecided, "/services/placement-writer", ahead)
		start(t, b.Peer(), nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if all, _ := decisions(t, b, "train"); len(all) != 1 {
			t.Fatal("decided behind the prior decision")
		}
		h.score("a", 9, time.Hour)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if d := h.last("train"); d.Clusters[0].Name != "a" || d.Clusters[0].Score != 9 {
			t.Errorf("decided %v", d.Clusters)
		}
	})
}

func TestReplicaDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a")
		h.place("train", `{}`)
		h.publish(decisionSubject("train"), schemas.TypePlacementDecided, "/services/placement-writer", &schemas.PlacementDecision{
			Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: "an older one"}, Mode: schemas.ModeDirect,
			Scheduler: placement.SchedulerSpokewire, Clusters: []schemas.SelectedCluster{}, Cause: "First", Now: time.Now(),
			Basis: map[string]uint64{events.StreamHub: 1000},
		})
		start(t, b.Peer(), nil)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if d := h.last("train"); len(d.Clusters) != 1 {
			t.Errorf("never decided: %+v", d)
		}
	})
}
