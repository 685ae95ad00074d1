package engine

import (
	"testing"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
)

// evaluations returns how often each scorer was evaluated.
func evaluations(t testing.TB, e *Engine) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, m := range decidertest.Series(t, e.counts.evaluations) {
		for _, l := range m.GetLabel() {
			if l.GetName() == "scorer" {
				out[l.GetValue()] += int(m.GetCounter().GetValue())
			}
		}
	}
	return out
}
