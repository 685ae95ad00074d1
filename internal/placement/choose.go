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
	banded map[int32]bool // those that the dead band alone keeps
	stays  bool           // it is the prior decision's: none could be made
	// problem is why nothing could be decided, nil if it could.
	problem    error
	conditions [2]schemas.Condition
}

// choose selects from the order.
func (r *Ranking) choose() {
	c := &r.choice
	c.problem, c.banded, c.stays = r.problem(), nil, false
	c.ids = c.ids[:0]
	if r.stays() {
		r.stay()
		c.conditions = r.conditions()
		return
	}
	if n := r.wanted(); c.problem == nil {
		c.ids = append(c.ids, r.order[:n]...)
		if r.placement.deadBand > 0 && n < len(r.order) {
			r.holdBand(n)
		}
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

// holdBand chooses n clusters so that one that is not selected yet displaces
// a selected one only with a lead of more than the dead band.
func (r *Ranking) holdBand(n int) {
	c := &r.choice
	var holders []int32
	for _, id := range r.before.ids {
		if r.verdicts[id].reason == eligible {
			holders = append(holders, id)
		}
	}
	slices.SortFunc(holders, r.compare)
	c.ids = c.ids[:0]
	next := 0 // in order
	for len(c.ids) < n {
		for next < len(r.order) && r.selectedBefore(r.order[next]) {
			next++
		}
		switch {
		case len(holders) == 0,
			next < len(r.order) && r.total[r.order[next]]-r.total[holders[0]] > r.placement.deadBand:
			c.ids = append(c.ids, r.order[next])
			next++
		default:
			c.ids = append(c.ids, holders[0])
			holders = holders[1:]
		}
	}
	slices.SortFunc(c.ids, r.compare)
	for _, id := range c.ids {
		if r.compare(r.order[n-1], id) < 0 {
			if c.banded == nil {
				c.banded = map[int32]bool{}
			}
			c.banded[id] = true
		}
	}
}
