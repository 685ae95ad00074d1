package placement

import (
	"errors"
	"math"
	"unique"

	"github.com/spokewire/spokewire/internal/expression"
)

// fleetCost bounds what the CEL expressions of one Placement cost over all of
// its clusters, in CEL's units. That is a second or two.
const fleetCost = 20 * expression.MaxCost

var errFleetCost = errors.New("spec.predicates: the CEL expressions cost too much over all clusters: make them simpler, " +
	"put what a labelSelector can say into one, or name fewer clusterSets")

// opinions is what the expressions of a Placement say of each cluster. Nobody
// is asked again before the cluster, or a score that it was asked for, has
// changed: an evaluation costs as much as everything else of a verdict many
// times over.
//
// Costs are added up to the limit, and then nobody else is asked. Whether
// they exceed it does not depend on the order.
type opinions struct {
	of    []opinion // by cluster number
	limit uint64    // fleetCost
	spent uint64
	over  bool
}

type seen struct {
	of     *cluster
	object *expression.Cluster
}

type opinion struct {
	of      *cluster // as it was when it was asked, nil if it was not
	matched bool
	failure unique.Handle[string] // of the first expression that failed, the zero handle if none did
	cost    uint64
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
	for len(o.of) < len(r.verdicts) {
		o.of = append(o.of, opinion{})
	}
	for _, id := range r.scratch.dirty {
		if !r.concerned(id) || !r.current(id) {
			o.drop(id)
		}
	}
	for _, id := range r.scratch.dirty {
		r.ask(id)
	}
	for id := 0; o.over && id < len(o.of); id++ {
		r.ask(int32(id)) // those for whom there was no budget
	}
	if over := o.spent > o.limit; over != o.over {
		o.over = over
		r.dirtyAll()
	}
}

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

func (o *opinions) drop(id int32) {
	o.spent -= o.of[id].cost
	o.of[id] = opinion{}
}

// ask asks the expressions about the cluster, if it was not and there is
// budget left.
func (r *Ranking) ask(id int32) {
	o := &r.opinions
	if o.of[id].of != nil || o.spent > o.limit || !r.concerned(id) {
		return
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
		out.cost += result.Cost
		if out.matched = result.Matched; out.matched {
			break
		}
		if result.Failure != "" && !out.failed() {
			out.failure = unique.Make(result.Failure)
		}
	}
	o.of[id] = out
	o.spent += out.cost
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
