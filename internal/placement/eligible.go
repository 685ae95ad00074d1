package placement

import (
	"slices"
	"strings"
)

// reason says why a cluster is not eligible. The order is that in which the
// steps of a decision come.
type reason uint8

const (
	eligible reason = iota
	notInClusterSet
	terminating
	misconfigured    // not the cluster: the step that was to judge it
	failedExpression // a CEL expression, on this cluster; no other predicate matches it
	notMatched
	tainted
	cordoned
	staleScore
	noScore
	absent // there is no such cluster
	reasons
)

var reasonNames = [reasons]string{"Eligible", "ClusterSet", "Terminating", "Misconfigured", "Expression", "Predicate", "Taint", "Cordoned", "StaleScore", "NoScore", "Absent"}

func (r reason) String() string { return reasonNames[r] }

// wait says what a verdict waits for.
type wait uint8

const (
	forExpiry wait = iota
	forGrace
	forToleration
	forCordon
	waits
)

// waitNames are the keys of a decision's timers.
var waitNames = [waits]string{"ScoreExpiry", "StaleGrace", "Toleration", "Cordon"}

// verdict is all that is known of one cluster by itself.
type verdict struct {
	reason reason
	held   bool  // an expired score counts, in its grace
	late   bool  // one that is missing or expired is counted as something else
	wait   wait  // what it waits for, if for anything
	sum    int32 // of the Steady and AddOn terms
}

// judgement is a verdict in the making.
type judgement struct {
	verdict
	until int64 // Unix nanoseconds at which the verdict changes by itself, or never
}

// fresh is 1 for an eligible cluster that has all its scores, else 0.
func (v *verdict) fresh() int {
	if v.reason == eligible && !v.late {
		return 1
	}
	return 0
}

func (v *judgement) expect(until int64, w wait) {
	if until < v.until {
		v.until, v.wait = until, w
	}
}

// scope is which sets the Placement selects from.
type scope struct {
	version  uint64   // of the fleet's sets and bindings
	bindings int      // valid ones in the namespace, whichever sets the spec asks for
	names    []string // of the sets, sorted
	sets     []*clusterSet
	bound    []*clusterSet // whichever sets the spec asks for
}

// scopeOf finds the sets that exist, are bound in the Placement's namespace
// by a binding of their name and, where the spec names some, are among those.
func (f *Fleet) scopeOf(p *Placement) scope {
	s := scope{version: f.bound}
	for k, set := range f.bindings {
		if k.Namespace != p.Object.Namespace || k.Name != set || f.sets[set] == nil {
			continue
		}
		s.bindings++
		s.bound = append(s.bound, f.sets[set])
		if len(p.Spec.ClusterSets) == 0 || slices.Contains(p.Spec.ClusterSets, set) {
			s.names = append(s.names, set)
		}
	}
	slices.Sort(s.names)
	for _, name := range s.names {
		s.sets = append(s.sets, f.sets[name])
	}
	return s
}

func (s *scope) holds(c *cluster) bool { return inAny(s.sets, c) }

func inAny(sets []*clusterSet, c *cluster) bool {
	for _, set := range sets {
		if set.selector.Matches(c.labels) {
			return true
		}
	}
	return false
}

// judge looks at one cluster.
func (r *Ranking) judge(id int32) judgement {
	v := judgement{until: never}
	c := r.fleet.clusters[id]
	if c == nil {
		v.reason = absent
		return v
	}
	if r.filter(&v, id, c); v.reason != eligible {
		return v
	}
	selected := r.selectedBefore(id)
	refused, until := tolerate(c.source.Taints, r.placement.Spec.Tolerations, selected, r.now)
	switch v.expect(until, forToleration); {
	case refused != nil:
		v.reason = tainted
	case !r.passCordon(&v, id, selected):
		v.reason = cordoned
	case r.placement.wrongPolicy != nil:
		v.reason = misconfigured
	default:
		r.sum(&v, id, selected)
	}
	return v
}

// filter goes through the steps that do not depend on what is selected. A
// step that is misconfigured shows itself only where there is a cluster for it
// to judge, as in OCM.
func (r *Ranking) filter(v *judgement, id int32, c *cluster) {
	p := r.placement
	switch {
	case !r.scope.holds(c):
		v.reason = notInClusterSet
	case c.source.Deleting:
		v.reason = terminating
	case p.wrongName != nil, p.wrongPredicates != nil:
		v.reason = misconfigured
	default:
		why, until, w := r.matched(id, c)
		v.expect(until, w)
		if v.reason = why; why == eligible && p.wrongTolerations != nil {
			v.reason = misconfigured
		}
	}
}

// sum adds up the terms that depend on the cluster alone.
func (r *Ranking) sum(v *judgement, id int32, selected bool) {
	for i := range r.placement.terms {
		t := &r.placement.terms[i]
		switch t.kind {
		case kindSteady:
			v.sum += int32(t.weight * r.steady(selected))
		case kindAddOn:
			s := r.addOn(t, id, selected)
			v.sum += int32(t.weight * s.value)
			r.take(v, s)
		}
	}
}

func (r *Ranking) take(v *judgement, s addOnScore) {
	switch s.state {
	case scoreFresh:
		v.expect(s.until, forExpiry)
	case scoreHeld:
		v.held = true
		v.expect(s.until, forGrace)
	case scoreWorst, scoreZero:
		v.late = true
	case scoreStale, scoreMissing:
		if v.reason == eligible {
			v.reason = staleScore + reason(s.state-scoreStale)
		}
	}
}

func join(names []string) string { return strings.Join(names, ", ") }
