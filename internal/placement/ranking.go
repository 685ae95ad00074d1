package placement

import (
	"slices"
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
	settings  policy
	policy    policy // the settings, or what is left of them in a rebalance
	policies  uint64 // the fleet's policy that it rests on
	tables    []read // the scores that it reads

	// By the number of a cluster. With thousands of Placements and clusters
	// these are most of a process: a ranking has 28 bytes for a cluster.
	verdicts []verdict
	until    []int64 // when the verdict changes by itself, in Unix nanoseconds
	totals   []int32 // of those in order

	first  int64   // no verdict changes by itself before
	order  []int32 // the eligible clusters, best first
	counts [reasons]int
	fresh  int // of those in order, how many have all their scores

	balance  balance
	bounds   [resourceKinds]bounds
	cel      bool // a predicate has expressions, so there are opinions
	opinions opinions
	spread   spread

	request     *rebalance     // that is in force, nil if none is
	rebalancing bool           // it is open
	drained     map[int32]bool // let go by a drain since the last Refresh

	prior   *Prior
	before  before
	choice  choice
	control control
}

// scratch is what one Refresh after the other uses.
type scratch struct {
	dirty, moved []int32
	marked       []bool
	keys         []uint64
	// What flap control looks at.
	holders, rivals, behind []int32
	known, released, ranked marks
	held, ideal             marks
}

// NewRanking returns a ranking that has seen nothing yet; prior is the last
// decision of the Placement, nil if there is none.
func NewRanking(p *Placement, f *Fleet, prior *Prior) *Ranking {
	r := &Ranking{placement: p, fleet: f, full: true, first: never, cel: p.usesCEL(), opinions: opinions{limit: fleetCost}, spread: newSpread(p.spread)}
	for _, name := range p.Resources() {
		if !slices.ContainsFunc(r.tables, func(t read) bool { return t.name == name }) {
			r.tables = append(r.tables, read{name: name})
		}
	}
	r.setPolicy()
	r.SetPrior(prior)
	return r
}

// setPolicy takes over the settings in force. What was thought of the
// clusters may have rested on others.
func (r *Ranking) setPolicy() {
	r.settings, r.policies, r.full = resolve(r.fleet.policy, r.placement.own, r.placement.unreadable), r.fleet.policies, true
	before := r.policy.stale
	r.policy = r.settings
	if r.rebalancing {
		r.policy = r.settings.forRebalance()
	}
	if r.policy.stale != before { // which says what scores() lists
		r.opinions = opinions{limit: r.opinions.limit, asked: r.opinions.asked}
	}
}

// Refresh brings the ranking up to the fleet's present state and to now, and
// chooses. It returns when it must be called again even if nothing happens,
// the zero time if never; that may be early.
func (r *Ranking) Refresh(now time.Time) (next time.Time) {
	r.begin(now)
	r.open()
	r.find()
	s := &r.fleet.scratch
	s.moved = s.moved[:0]
	for _, id := range s.dirty {
		r.rejudge(id)
	}
	all := r.rescale(len(s.dirty) > 0)
	all = r.rebalance() || all
	r.reorder(all)
	r.seen, r.full, r.opinions.next = r.fleet.version, false, 0
	r.choose()
	return r.next()
}

// begin brings what all verdicts rest on up to date.
func (r *Ranking) begin(now time.Time) {
	r.now = now.UnixNano()
	r.grow()
	if r.scope.version != r.fleet.bound {
		r.scope, r.full, r.opinions.next = r.fleet.scopeOf(r.placement), true, 0
	}
	if r.policies != r.fleet.policies {
		r.setPolicy()
	}
}

// grow makes room for clusters that are new to the fleet.
func (r *Ranking) grow() {
	r.fleet.arrange()
	n := len(r.fleet.names) - len(r.verdicts)
	r.verdicts, r.until, r.totals = slices.Grow(r.verdicts, n), slices.Grow(r.until, n), slices.Grow(r.totals, n)
	for len(r.verdicts) < len(r.fleet.names) {
		r.verdicts = append(r.verdicts, verdict{reason: absent})
		r.until = append(r.until, never)
		r.totals = append(r.totals, 0)
		r.counts[absent]++
	}
}

// next is the first moment at which a verdict may change by itself; it may be
// early, for a verdict that has changed since.
func (r *Ranking) next() time.Time {
	first := min(r.first, r.control.next(), r.rebalanceNext())
	if first == never {
		return time.Time{}
	}
	return timeAt(first)
}
