package placement

import (
	"errors"
	"fmt"
	"math"
	"time"
	"unique"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/internal/expression"
)

const (
	// fleetCost bounds what the CEL expressions of one Placement cost over all
	// of its clusters, in CEL's units. That is a few seconds.
	fleetCost = 20 * expression.MaxCost
	// maxExhausted is on how many clusters the expressions may be ended for
	// what they cost. An expression that runs for ever does on all of them,
	// and takes a fifth of a second on each.
	maxExhausted = 2
)

// errCost says that the expressions cost too much. It names them all: which
// one it was, and on which clusters, depends on who was asked first.
func (p *Placement) errCost() error {
	var fields []string
	for _, s := range p.predicates {
		if s.cel != nil {
			fields = append(fields, s.cel.Fields...)
		}
	}
	return fmt.Errorf("%s: the CEL expressions cost too much: more than %d on each of more than %d clusters, or more than %d over all: "+
		"make them simpler, put what a labelSelector can say into one, or name fewer clusterSets", brief.List(fields), expression.MaxCost, maxExhausted, fleetCost)
}

// opinions is what the expressions of a Placement say of each cluster. Nobody
// is asked again before the cluster, or a score that it was asked for, has
// changed: an evaluation costs as much as everything else of a verdict many
// times over.
//
// Costs are added up to the limit, and then nobody else is asked. Whether
// they exceed it does not depend on the order.
type opinions struct {
	of        []opinion // by cluster number
	limit     uint64    // fleetCost
	spent     uint64
	exhausted int
	asked     int // how many evaluations there were
	over      bool
	// next is where Ask goes on.
	next int32
}

// exceed reports whether nobody else may be asked.
func (o *opinions) exceed() bool { return o.spent > o.limit || o.exhausted > maxExhausted }

type seen struct {
	of     *cluster
	object *expression.Cluster
}

type opinion struct {
	of      *cluster // as it was when it was asked, nil if it was not
	matched bool
	failure unique.Handle[string] // of the first expression that failed, the zero handle if none did
	cost    uint64
	ended   bool     // for what it costs
	scores  *reading // nil where no expression asked for scores
}

func (o *opinion) failed() bool { return o.failure != unique.Handle[string]{} }

// usesCEL reports whether a predicate has expressions.
func (p *Placement) usesCEL() bool {
	for _, s := range p.predicates {
		if s.cel != nil {
			return true
		}
	}
	return false
}

// opine brings the opinions of the dirty clusters up to date. Where that
// changes whether all of them together are too expensive, every verdict must
// be made anew.
func (r *Ranking) opine() {
	o := &r.opinions
	o.grow(len(r.verdicts))
	for _, id := range r.fleet.scratch.dirty {
		if !r.concerned(id) || !r.current(id) {
			o.drop(id)
		}
	}
	for _, id := range r.fleet.scratch.dirty {
		r.ask(id)
	}
	for id := 0; o.over && id < len(o.of); id++ {
		r.ask(int32(id)) // those for whom there was no budget
	}
	if over := o.exceed(); over != o.over {
		o.over = over
		r.dirtyAll()
	}
}

func (o *opinions) grow(n int) {
	for len(o.of) < n {
		o.of = append(o.of, opinion{})
	}
}

// Ask asks the expressions about clusters for a Refresh that looks at all of
// them, until what they cost comes to budget, and reports whether that was
// all. What changes meanwhile the Refresh asks anew. Where few have changed
// there is nothing to do.
func (r *Ranking) Ask(now time.Time, budget uint64) (done bool) {
	if !r.cel {
		return true
	}
	o := &r.opinions
	if r.begin(now); !r.full {
		return true
	}
	o.grow(len(r.verdicts))
	var used uint64
	for ; int(o.next) < len(o.of) && used < budget && !o.exceed(); o.next++ {
		if id := o.next; !r.concerned(id) || !r.current(id) {
			o.drop(id)
			used += r.ask(id)
		}
	}
	return int(o.next) == len(o.of) || o.exceed()
}

// Asked is how often expressions were asked about a cluster.
func (r *Ranking) Asked() int { return r.opinions.asked }

func (r *Ranking) dirtyAll() {
	for id := range r.verdicts {
		r.dirty(int32(id))
	}
}

// concerned reports whether the predicates judge the cluster.
func (r *Ranking) concerned(id int32) bool {
	c := r.fleet.clusters[id]
	return c != nil && !c.source.Deleting && r.scope.holds(c)
}

func (o *opinions) drop(id int32) { o.set(id, opinion{}) }

func (o *opinions) set(id int32, to opinion) {
	was := &o.of[id]
	o.spent += to.cost - was.cost
	if was.ended {
		o.exhausted--
	}
	if to.ended {
		o.exhausted++
	}
	*was = to
}

// ask asks the expressions about the cluster, if it was not and there is
// budget left, and returns what that cost.
func (r *Ranking) ask(id int32) uint64 {
	o := &r.opinions
	if o.of[id].of != nil || o.exceed() || !r.concerned(id) {
		return 0
	}
	c := r.fleet.clusters[id]
	out := opinion{of: c}
	scores := func(resource string) ([]expression.Score, bool) { return r.read(&out, resource, id) }
	for _, s := range r.placement.predicates {
		if !s.match(c) {
			continue
		}
		if s.cel == nil {
			out.matched = true
			break
		}
		result := s.cel.Evaluate(r.object(c), scores)
		o.asked++
		out.cost += result.Cost
		out.ended = out.ended || result.Exhausted
		if out.matched = result.Matched; out.matched {
			break
		}
		if result.Failure != "" && !out.failed() {
			out.failure = unique.Make(result.Failure)
		}
	}
	o.set(id, out)
	return out.cost
}

// object is what expressions see of the cluster.
func (r *Ranking) object(c *cluster) *expression.Cluster {
	if last := r.fleet.lastSeen; last != nil && last.of == c {
		return last.object
	}
	r.fleet.lastSeen = &seen{of: c, object: expression.NewCluster(c.source)}
	return r.fleet.lastSeen.object
}

// matched is the step of the predicates, and until when its answer stays.
func (r *Ranking) matched(id int32, c *cluster) (reason, int64, wait) {
	if !r.cel {
		if matchesAny(r.placement.predicates, c) {
			return eligible, never, forExpiry
		}
		return notMatched, never, forExpiry
	}
	if r.opinions.over {
		return misconfigured, never, forExpiry
	}
	o := &r.opinions.of[id]
	until, w := int64(math.MaxInt64), forExpiry
	if o.scores != nil {
		until, w = o.scores.until, o.scores.wait
	}
	switch {
	case o.matched:
		return eligible, until, w
	case o.failed():
		return failedExpression, until, w
	}
	return notMatched, until, w
}

// brokenExpressions is the problem of expressions that failed for every
// cluster that they were to judge; nil where they could judge one.
func (r *Ranking) brokenExpressions() error {
	if r.counts[failedExpression] == 0 || r.available() != r.counts[failedExpression] {
		return nil
	}
	for _, id := range r.fleet.byName {
		if int(id) < len(r.verdicts) && r.verdicts[id].reason == failedExpression {
			return errors.New(r.opinions.of[id].failure.Value() + " (on every cluster, for instance " + r.fleet.names[id] + ")")
		}
	}
	return nil
}
