package e2e

import (
	"maps"
	"testing"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/internal/stack"
)

// TestCordonDrainAndRebalance takes clusters out of service and back, with
// two replicas of each service that are started anew meanwhile.
func TestCordonDrainAndRebalance(t *testing.T) {
	t.Parallel()
	y := startYard(t, func(o *stack.Options) { o.Replicas = 2 })
	writers := []string{access.PlacementWriter, access.PlacementWriter + "-2"}
	y.pulls(map[string]float64{"a": 95, "b": 85, "c": 75, "d": 65})
	y.place("bare", 2)
	y.selects("bare", []string{"a", "b"}, anyDecision) // all scores are read
	y.place("keep", 2, annotate("change-budget", "1/24h"), annotate("dead-band", "500"))
	y.selects("keep", []string{"a", "b"}, anyDecision)

	// Cordoned: nothing new lands there, and nothing moves.
	y.told([]string{"cordon", "a", "--by", "kim", "--reason", "kernel upgrade"}, "a: cordoned (")
	y.place("late", 1)
	y.selects("late", []string{"b"}, explains("a", "Cordoned", "kernel upgrade"))
	y.restart(writers...)
	y.place("later", 1)
	y.selects("later", []string{"b"}, anyDecision)
	y.selects("keep", []string{"a", "b"}, anyDecision)

	// Draining: the first takes all there is of the budget, the second waits
	// for more of it.
	y.told([]string{"drain", "a", "--by", "kim", "--timeout", "2m"}, "yard/keep: moved, it selects b=85 c=75", "a: drained, no Placement selects it")
	y.selects("keep", []string{"b", "c"}, because(placement.CauseCordonChanged, "a is out", "being drained by kim", "in: c (75); out: a"))
	y.told([]string{"drain", "b", "--by", "kim", "--wait=false"}, "b: draining (")
	y.selects("keep", []string{"b", "c"}, explains("b", placement.ExplainedHeld, "kept until"))
	y.selects("late", []string{"c"}, anyDecision) // it has no budget
	y.restart(writers...)
	y.selects("keep", []string{"b", "c"}, explains("b", placement.ExplainedHeld, "by the change budget of 1"))
	must(t, y.edit("keep", annotate("change-budget", "2/24h")))
	y.selects("keep", []string{"c", "d"}, because(placement.CauseCordonChanged, "out: b"))

	// Uncordoned: the dead band keeps what is there now.
	y.told([]string{"uncordon", "a"}, "a: no longer draining (")
	y.told([]string{"uncordon", "b"}, "b: no longer draining (")
	y.selects("late", []string{"a"}, anyDecision)
	y.selects("keep", []string{"c", "d"}, anyDecision)

	// Rebalanced: what the dead band holds moves as the budget lets it.
	y.told([]string{"rebalance", "placement", "yard/keep", "--by", "kim", "--timeout", "2m"}, "yard/keep: nothing moves yet; 2 to move as the change budget lets them, the next at ")
	y.selects("keep", []string{"c", "d"}, because(placement.CauseRebalance, "asked for by kim; 2 to move"))
	must(t, y.edit("keep", annotate("change-budget", "3/24h")))
	y.selects("keep", []string{"a", "c"}, because(placement.CauseRebalance, "in: a (95); out: d (65); 1 to move"))
	y.restart(writers...)
	y.selects("keep", []string{"a", "c"}, anyDecision)
	must(t, y.edit("keep", annotate("change-budget", "9/24h")))
	d := y.selects("keep", []string{"a", "b"}, because(placement.CauseRebalance, "in: b (85); out: c (75)"))
	if d.Rebalance == nil || d.Rebalance.Remaining != 0 {
		t.Errorf("the rebalance stands at %+v, want it to be done", d.Rebalance)
	}
	y.pulls(map[string]float64{"d": 99}) // it is over: the dead band holds again
	y.place("last", 1)
	y.selects("last", []string{"d"}, anyDecision)
	y.selects("keep", []string{"a", "b"}, anyDecision)

	y.agree()
}

// agree wants one history of the two replicas, and each decision to follow
// from its inputs.
func (y yard) agree() {
	y.t.Helper()
	for _, name := range []string{"late", "later", "last"} {
		y.history(name)
	}
	once := map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}
	history := y.history("keep")
	if got := movesOf(history); !maps.Equal(got, once) {
		y.t.Errorf("the clusters went as often as %v, want %v", got, once)
	}
	for _, d := range history {
		if len(d.Removed) > 1 {
			y.t.Errorf("%s: %v went at once, more than the change budget has", d.Message, d.Removed)
		}
	}
	y.told([]string{"replay", "placement", "--since", "1h", "--timeout", "2m"}, "Equal")
}
