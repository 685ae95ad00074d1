package writer

import (
	"testing"
	"testing/synctest"
	"time"

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
