package placement

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// choice is which clusters are selected, in rank order.
type choice struct {
	ids    []int32
	groups []int // by position in ids
	list   []schemas.DecisionGroup
	stays  bool // it is the prior decision's: none could be made
	// freshRival: a cluster that is not selected yet has all its scores.
	freshRival bool
	// problem is why nothing could be decided, nil if it could.
	problem    error
	conditions [2]schemas.Condition
}

// choose selects from the order.
func (r *Ranking) choose() {
	c := &r.choice
	c.problem, c.stays = r.problem(), false
	c.ids = c.ids[:0]
	r.control.reset()
	if r.stays() {
		r.stay()
		c.conditions = r.conditions()
		return
	}
	switch n := r.wanted(); {
	case c.problem != nil:
	case r.policy.controls() && len(r.before.ids) > 0:
		r.chooseHeld(n)
	case r.spreads():
		c.ids = r.pick(r.order, nil, n, c.ids)
		slices.SortFunc(c.ids, r.compare)
	default:
		c.ids = append(c.ids, r.order[:n]...)
	}
	r.group()
	c.conditions = r.conditions()
}

// wanted is how many clusters to select: what the spec says, if there are so
// many.
func (r *Ranking) wanted() int {
	if n := r.placement.Spec.NumberOfClusters; n != nil && int(*n) < len(r.order) {
		return max(0, int(*n))
	}
	return len(r.order)
}

// problem returns the first step that is misconfigured and mattered.
func (r *Ranking) problem() error {
	p := r.placement
	if p.wrongName != nil {
		return p.wrongName
	}
	if r.counts[misconfigured] > 0 && p.wrongPredicates != nil {
		return p.wrongPredicates
	}
	if r.opinions.over {
		return errFleetCost
	}
	if err := r.brokenExpressions(); err != nil {
		return err
	}
	if r.counts[misconfigured] > 0 && p.wrongTolerations != nil {
		return p.wrongTolerations
	}
	return p.wrongPolicy
}
