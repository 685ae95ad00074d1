package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestAnotherReplicasWordStands: a score that rests on all that this replica
// has seen is not argued with, one that rests on less is.
func TestAnotherReplicasWordStands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		time.Sleep(time.Second)
		config := apply(t, b, "s", `metric("x")`, nil)
		seen := metric(t, b, "c", "node", "x=1")
		expect(t, b, "c", "s", "1 Computed")
		write := func(value int32, basis uint64) {
			last, s := lastScore(t, b, "c", "s")
			s.Items[0].Value = &value
			s.Basis = map[string]uint64{events.StreamMetrics: basis, events.StreamConfig: config.Sequence}
			publish(t, b, events.ScoreSubject("c", "s"), newEvent(t, schemas.TypeScoreComputed, "/other", s), events.ExpectLast(last.Message.Sequence))
		}
		write(50, seen.Sequence)
		expect(t, b, "c", "s", "1 Computed", "50 Computed")
		write(60, seen.Sequence-1)
		expect(t, b, "c", "s", "1 Computed", "50 Computed", "60 Computed", "1 Computed")
		// This one claims to have seen more than there is: it is waited for,
		// not for ever.
		write(70, seen.Sequence+5)
		metric(t, b, "c", "node", "x=2")
		expect(t, b, "c", "s", "1 Computed", "50 Computed", "60 Computed", "1 Computed", "70 Computed")
		time.Sleep(decider.MaxWait)
		expect(t, b, "c", "s", "1 Computed", "50 Computed", "60 Computed", "1 Computed", "70 Computed", "2 Computed")
	})
}

// TestTwoReplicas: two engines at once make one linear history, in which no
// score repeats the one before it, and which ends where one would have ended.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		first, _ := start(t, b.Peer(), nil)
		second, _ := start(t, b.Peer(), nil)
		apply(t, b, "s", `metric("x")`, nil)
		r := rand.New(rand.NewPCG(5, 6))
		var publishing sync.WaitGroup
		for _, cluster := range []string{"a", "b", "c"} {
			steps := make([]int, 100)
			for i := range steps {
				steps[i] = r.IntN(4)
			}
			publishing.Go(func() {
				for i, v := range append(steps, 9) {
					metric(t, b, cluster, "node", fmt.Sprintf("x=%d", v))
					if i%7 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
			})
		}
		publishing.Wait()
		synctest.Wait()
		for _, cluster := range []string{"a", "b", "c"} {
			got := history(t, b, cluster, "s")
			if len(slices.Compact(slices.Clone(got))) != len(got) || got[len(got)-1] != "9 Computed" {
				t.Errorf("history of %s repeats itself or ends wrongly: %v", cluster, got)
			}
		}
		t.Logf("conflicts: %d and %d", decidertest.Total(t, first.Counts.Conflicts), decidertest.Total(t, second.Counts.Conflicts))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for _, cluster := range []string{"a", "b", "c"} {
			got := history(t, b, cluster, "s")
			if n := len(got); got[n-1] != "- NoSample" || got[n-2] != "9 Computed" {
				t.Errorf("history of %s ends with %v", cluster, got[n-2:])
			}
		}
	})
}
