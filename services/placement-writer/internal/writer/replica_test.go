package writer

import (
	"cmp"
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
		winner := best(names, scores)
		for _, name := range []string{"p", "q", "r"} {
			linear(t, b, name)
			if got := h.last(name).Clusters[0]; got.Name != winner || got.Score != int64(scores[winner]) {
				t.Errorf("%s selects %v, want %s with %d", name, got, winner, scores[winner])
			}
		}
	})
}

// best is the cluster with the highest score, the first by name.
func best(names []string, scores map[string]int32) string {
	return slices.MaxFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(scores[x], scores[y]), strings.Compare(y, x))
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

// TestReplicaDoesNotWaitForWhatIsGone: the decision before has seen a
// tombstone that has expired since.
func TestReplicaDoesNotWaitForWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b", "c")
		for i, name := range []string{"a", "b", "c"} {
			h.score(name, int32(i), time.Hour)
		}
		h.place("train", onGPU)
		h.delete(events.KindCluster, "", "c", "")
		synctest.Wait()
		stop()
		b.Purge(events.HubSubject(events.KindCluster, "", "c"))
		start(t, b.Peer(), nil)
		synctest.Wait()
		h.score("a", 9, time.Hour)
		synctest.Wait()
		if d := h.last("train"); d.Clusters[0].Name != "a" {
			t.Errorf("selects %v still, want a at once", d.Clusters)
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
