package placement

import (
	"errors"
	"math"
	"slices"
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

// reading is the scores that an opinion rests on.
type reading struct {
	resources []string
	items     [][]scoreItem
	selected  bool
	from      int64
	until     int64 // when the answer may change by itself
	wait      wait
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

// concerned reports whether the predicates judge the cluster.
func (r *Ranking) concerned(id int32) bool {
	c := r.fleet.clusters[id]
	return c != nil && !c.source.Deleting && r.scope.holds(c)
}

// current reports whether the opinion of the cluster still rests on what is.
func (r *Ranking) current(id int32) bool {
	o := &r.opinions.of[id]
	if o.of != r.fleet.clusters[id] {
		return false
	}
	s := o.scores
	if s == nil {
		return true
	}
	if r.now < s.from || r.now >= s.until || s.selected != r.selectedBefore(id) {
		return false
	}
	for i, resource := range s.resources {
		if now := r.fleet.itemsOf(resource, id); !same(now, s.items[i]) {
			return false
		}
	}
	return true
}

// itemsOf is the scores of that name that count for the cluster.
func (f *Fleet) itemsOf(resource string, id int32) []scoreItem {
	if table := f.scores[resource]; table != nil {
		return table.of(id)
	}
	return nil
}

// same reports whether a and b are one slice. A fleet never writes to one.
func same(a, b []scoreItem) bool {
	return (a == nil) == (b == nil) && len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
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

// read answers scores(), and notes that it was asked.
func (r *Ranking) read(o *opinion, resource string, id int32) ([]expression.Score, bool) {
	if o.scores == nil {
		o.scores = &reading{selected: r.selectedBefore(id), from: r.now, until: never}
	}
	s, items := o.scores, r.fleet.itemsOf(resource, id)
	if !slices.Contains(s.resources, resource) {
		s.resources, s.items = append(s.resources, resource), append(s.items, items)
	}
	var out []expression.Score
	for _, item := range items {
		holds, until, w := r.listed(item, resource, id, s.selected)
		if until < s.until {
			s.until, s.wait = until, w
		}
		if holds {
			out = append(out, expression.Score{Name: item.name, Value: item.value})
		}
	}
	return out, items != nil
}

// listed reports whether scores() has the item, and until when that stays so.
// An expired one is there as far as the stale policy lets it count; with
// StaleZero as OCM has it, which asks of nobody's scores whether they expired.
func (r *Ranking) listed(item scoreItem, resource string, id int32, selected bool) (bool, int64, wait) {
	stale := &r.policy.stale
	switch {
	case item.lost:
		return false, never, forExpiry
	case stale.policy == StaleZero && !r.fleet.scores[resource].isOurs(id):
		return true, never, forExpiry
	case r.now <= item.until:
		return true, following(item.until), forExpiry
	case stale.policy != StaleZero && selected:
		end := plus(item.until, stale.grace)
		if r.now < end {
			return true, end, forGrace
		}
	}
	return false, never, forExpiry
}

// isOurs reports whether a scorer of ours gave the cluster's scores.
func (t *scoreTable) isOurs(id int32) bool { return at(t.ours, id) != nil }

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
