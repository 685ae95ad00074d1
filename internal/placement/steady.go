package placement

import "github.com/spokewire/spokewire/pkg/schemas"

// steadyScore is the best for a cluster that is selected already, 0 for any
// other.
func steadyScore(selected bool) int64 {
	if selected {
		return schemas.MaxScore
	}
	return 0
}

// steady is what the prioritizer says in this decision: nothing while the
// Placement is rebalanced.
func (r *Ranking) steady(selected bool) int64 { return steadyScore(selected && !r.rebalancing) }
