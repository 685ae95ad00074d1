package placement

import (
	"slices"
	"strings"
	"time"
)

// Ranking is one Placement's view of a fleet: the verdict on every cluster
// and the eligible ones in order. Refresh brings it up to date by looking
// only at what changed.
type Ranking struct {
	placement *Placement
	fleet     *Fleet
	now       int64
	seen      uint64 // the version of the fleet that it shows
	full      bool   // every verdict must be made anew
	scope     scope
	policy    policy
	policies  uint64 // the fleet's policy that it rests on

	verdicts []verdict
	until    []int64 // of the verdicts, apart so that a scan of it is fast
	first    int64   // no verdict changes by itself before
	total    []int64 // of those in order
	order    []int32 // the eligible clusters, best first
	counts   [reasons]int
	fresh    int // of those in order, how many have all their scores

	balance  balance
	bounds   [resourceKinds]bounds
	cel      bool // a predicate has expressions, so there are opinions
	opinions opinions
	spread   spread

	prior   *Prior
	before  before
	choice  choice
	control control
	scratch scratch
}

// scratch is kept to be used again.
type scratch struct {
	dirty, moved []int32
	mark         []bool
}

// NewRanking returns a ranking that has seen nothing yet; prior is the last
// decision of the Placement, nil if there is none.
func NewRanking(p *Placement, f *Fleet, prior *Prior) *Ranking {
	r := &Ranking{placement: p, fleet: f, full: true, first: never, cel: p.usesCEL(), opinions: opinions{limit: fleetCost}, spread: newSpread(p.spread)}
	r.setPolicy()
	r.SetPrior(prior)
	return r
}

// setPolicy takes over the settings in force. What was thought of the
// clusters may have rested on others.
func (r *Ranking) setPolicy() {
	r.policy, r.policies, r.full = resolve(r.fleet.policy, r.placement.own, r.placement.unreadable), r.fleet.policies, true
	r.opinions = opinions{limit: r.opinions.limit}
}

// Refresh brings the ranking up to the fleet's present state and to now, and
// chooses. It returns when it must be called again even if nothing happens,
// the zero time if never; that may be early.
func (r *Ranking) Refresh(now time.Time) (next time.Time) {
	r.now = now.UnixNano()
	r.grow()
	if r.full || r.scope.version != r.fleet.bound {
		r.scope, r.full = r.fleet.scopeOf(r.placement), true
	}
	if r.policies != r.fleet.policies {
		r.setPolicy()
	}
	r.find()
	rejudged := r.scratch.dirty
	r.scratch.moved = r.scratch.moved[:0]
	for _, id := range rejudged {
		r.rejudge(id)
	}
	all := r.rescale(len(rejudged) > 0)
	all = r.rebalance() || all
	r.reorder(all)
	r.seen, r.full = r.fleet.version, false
	r.choose()
	return r.next()
}

// grow makes room for clusters that are new to the fleet.
func (r *Ranking) grow() {
	for len(r.verdicts) < len(r.fleet.names) {
		r.verdicts = append(r.verdicts, verdict{reason: absent, until: never})
		r.until = append(r.until, never)
		r.total = append(r.total, 0)
		r.scratch.mark = append(r.scratch.mark, false)
		r.counts[absent]++
	}
}

// find collects the clusters whose verdict may have changed: by an event, by
// the passing of time, or because they came into or left the selection.
func (r *Ranking) find() {
	r.scratch.dirty = r.scratch.dirty[:0]
	changed, known := r.fleet.since(r.seen)
	if r.full || !known {
		r.dirtyAll()
	} else {
		for _, id := range changed {
			r.dirty(id)
		}
	}
	for _, id := range r.before.flipped {
		r.dirty(id)
	}
	r.before.flipped = r.before.flipped[:0]
	if r.now >= r.first {
		r.findDue()
	}
	if r.cel {
		r.opine()
	}
	for _, id := range r.scratch.dirty {
		r.scratch.mark[id] = false
	}
}

// findDue collects those whose time has come, and finds out when that of the
// others does.
func (r *Ranking) findDue() {
	r.first = never
	for id, until := range r.until {
		if until <= r.now {
			r.dirty(int32(id))
		} else {
			r.first = min(r.first, until)
		}
	}
}

func (r *Ranking) dirty(id int32) {
	if id != none && !r.scratch.mark[id] {
		r.scratch.mark[id] = true
		r.scratch.dirty = append(r.scratch.dirty, id)
	}
}

func (r *Ranking) rejudge(id int32) {
	old, v := r.verdicts[id], r.judge(id)
	r.verdicts[id], r.until[id] = v, v.until
	r.first = min(r.first, v.until)
	r.counts[old.reason]--
	r.counts[v.reason]++
	r.fresh += v.fresh() - old.fresh()
	r.spread.locate(id, r.fleet.clusters[id], v.reason == eligible)
	if old.reason != v.reason || old.sum != v.sum {
		r.moved(id)
	}
}

func (r *Ranking) moved(id int32) {
	r.scratch.moved = append(r.scratch.moved, id)
}

// rescale finds the bounds of the resources anew and reports whether they
// changed, and with them every total.
func (r *Ranking) rescale(rejudged bool) (all bool) {
	if !rejudged {
		return false
	}
	for i := range r.placement.terms {
		t := &r.placement.terms[i]
		if t.kind != kindResource {
			continue
		}
		b := noBounds
		for id := range r.verdicts {
			if r.verdicts[id].reason == eligible {
				b = b.with(r.fleet.clusters[id].allocatable[t.amount])
			}
		}
		all = all || !b.same(r.bounds[t.amount])
		r.bounds[t.amount] = b
		// Where the bounds stay, the values between them may have changed.
		for _, id := range r.scratch.dirty {
			r.moved(id)
		}
	}
	return all
}

func (r *Ranking) rebalance() (all bool) {
	for i := range r.placement.terms {
		if r.placement.terms[i].kind == kindBalance {
			r.scratch.moved, all = r.balance.refresh(&r.fleet.counts, r.placement.Key(), len(r.verdicts), r.scratch.moved)
			return all
		}
	}
	return false
}

// sumOf is the total of an eligible cluster.
func (r *Ranking) sumOf(id int32) int64 {
	sum := r.verdicts[id].sum
	for i := range r.placement.terms {
		switch t := &r.placement.terms[i]; t.kind {
		case kindBalance:
			sum += t.weight * balanceScore(r.balance.count[id], r.balance.most)
		case kindResource:
			sum += t.weight * resourceScore(r.fleet.clusters[id].allocatable[t.amount], r.bounds[t.amount])
		}
	}
	return sum
}

// compare is the order of two clusters: by total, the higher first, then by
// name.
func (r *Ranking) compare(a, b int32) int {
	switch x, y := r.total[a], r.total[b]; {
	case x > y:
		return -1
	case x < y:
		return 1
	}
	return strings.Compare(r.fleet.names[a], r.fleet.names[b])
}

// reorder puts the moved clusters into their places, or sorts everything
// where that is cheaper.
func (r *Ranking) reorder(all bool) {
	if all || len(r.scratch.moved) > 8+len(r.order)/16 {
		r.sort()
		return
	}
	slices.Sort(r.scratch.moved)
	moved := slices.Compact(r.scratch.moved)
	for _, id := range moved {
		if i, found := slices.BinarySearchFunc(r.order, id, r.compare); found {
			r.order = slices.Delete(r.order, i, i+1)
		}
	}
	for _, id := range moved {
		if r.verdicts[id].reason == eligible {
			r.total[id] = r.sumOf(id)
			i, _ := slices.BinarySearchFunc(r.order, id, r.compare)
			r.order = slices.Insert(r.order, i, id)
		}
	}
}

func (r *Ranking) sort() {
	r.order = r.order[:0]
	for id := range r.verdicts {
		if r.verdicts[id].reason == eligible {
			r.total[id] = r.sumOf(int32(id))
			r.order = append(r.order, int32(id))
		}
	}
	slices.SortFunc(r.order, r.compare)
}

// next is the first moment at which a verdict may change by itself; it may be
// early, for a verdict that has changed since.
func (r *Ranking) next() time.Time {
	first := min(r.first, r.control.next())
	if first == never {
		return time.Time{}
	}
	return timeAt(first)
}
