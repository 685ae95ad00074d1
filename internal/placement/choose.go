package placement

import (
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
	noneLate   bool // each eligible cluster has all its scores
	// banded: a cluster that ranks behind as many as are wanted is held by the
	// dead band, if by nothing else.
	banded bool
	best   bool // it is what pickBest picked
	// problem is why nothing could be decided, nil if it could.
	problem    error
	conditions [2]schemas.Condition
}

// choose selects from the order.
func (r *Ranking) choose() {
	c := &r.choice
	c.problem, c.stays, c.banded = r.problem(), false, false
	last, bestBefore := c.ids, c.best
	c.best = false
	c.ids = c.ids[:0]
	r.control.reset()
	if r.stays() {
		r.stay()
		c.conditions = r.conditions()
		return
	}
	if c.problem == nil {
		r.drain()
	}
	switch n := r.wanted(); {
	case c.problem != nil:
	case (r.policy.controls() || r.rebalancing) && len(r.before.ids) > 0:
		r.chooseHeld(n)
	case r.spreads():
		c.ids, c.best = r.pickBest(n, last, bestBefore), true
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
		return p.errCost()
	}
	if err := r.brokenExpressions(); err != nil {
		return err
	}
	if r.counts[misconfigured] > 0 && p.wrongTolerations != nil {
		return p.wrongTolerations
	}
	return p.wrongPolicy
}
