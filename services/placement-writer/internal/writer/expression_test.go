package writer

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestExpressionsFollowScores: a score that only an expression reads moves
// the Placement, whether or not the expression names it.
func TestExpressionsFollowScores(t *testing.T) {
	for name, expression := range map[string]string{
		"by name":  `managedCluster.scores('gpu').exists(s, s.value > 50)`,
		"computed": `managedCluster.scores('g' + 'pu').exists(s, s.value > 50)`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				h := hub{t, b}
				_, stop := start(t, b.Peer(), nil)
				h.fleet("a", "b")
				h.score("a", 70, time.Minute)
				h.score("b", 20, time.Hour)
				h.place("train", `{"predicates":[{"requiredClusterSelector":{"celSelector":{"celExpressions":["`+expression+`"]}}}],"prioritizerPolicy":{"mode":"Exact"}}`,
					func(p *schemas.Placement) {
						p.Annotations = map[string]string{"spokewire.dev/stale-policy": "exclude"}
					})
				h.await("train", "a")
				h.score("b", 90, time.Hour)
				h.await("train", "a", "b")
				time.Sleep(2 * time.Minute)
				h.await("train", "b")
				stop()
				h.score("a", 60, time.Hour)
				start(t, b.Peer(), nil)
				h.await("train", "a", "b")
			})
		})
	}
}

// TestAnExpensivePlacementHasTheOthersGoFirst: its expressions are asked about
// a few clusters at a time, each once.
func TestAnExpensivePlacementHasTheOthersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		w, stop := start(t, b.Peer(), nil)
		const clusters = 8
		var names []string
		for i := range clusters {
			names = append(names, fmt.Sprintf("c%d", i))
		}
		h.fleet(names...)
		synctest.Wait()
		evaluated := func() int { return decidertest.Total(t, w.counts.expressions) }
		list := "[" + strings.Repeat("1,", 99) + "1]"
		slow := `{"predicates":[{"requiredClusterSelector":{"celSelector":{"celExpressions":["` + fmt.Sprintf("%s.all(x, %s.all(y, x + y == 2))", list, list) + `"]}}}],"prioritizerPolicy":{"mode":"Exact"}}`
		for _, round := range []string{"1", "2"} {
			h.place("slow"+round, slow)
			h.place("sound"+round, onBalance)
			synctest.Wait()
			h.await("slow"+round, names...)
			// The clock stands still while the writer works.
			if last, first := h.last("slow"+round).Now, h.last("sound"+round).Now; !last.After(first) {
				t.Errorf("the expensive Placement is decided at %s, the other one at %s", last, first)
			}
		}
		if n := evaluated(); n != 2*clusters {
			t.Errorf("%d evaluations, want %d", n, 2*clusters)
		}
		h.place("slow1", `{"prioritizerPolicy":{"mode":"Exact"}}`, func(p *schemas.Placement) { p.Generation = 2 })
		h.cluster("c0", schemas.Taint{Key: "k", Effect: "NoSelect"})
		synctest.Wait()
		h.await("slow2", names[1:]...)
		if n := evaluated(); n != 2*clusters+1 {
			t.Errorf("%d evaluations after a change of one cluster, want %d", n, 2*clusters+1)
		}
		h.place("slow3", slow)
		h.delete(events.KindPlacement, "default", "slow3", "")
		synctest.Wait()
		stop() // while nobody waits for an answer
	})
}
