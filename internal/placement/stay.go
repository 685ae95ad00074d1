package placement

import (
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// stays reports whether the last decision stays because this one cannot be
// made. An expression that fails everywhere is a slip in the spec if the spec
// is new, or was no better before; where it used to work, the clusters have
// changed, and that counts like any selector that ceases to match. Likewise a
// set that is not bound.
func (r *Ranking) stays() bool {
	if r.prior == nil {
		return false
	}
	switch {
	case r.scope.bindings > 0 && len(r.scope.sets) == 0:
		return r.respecified() || r.saidBefore(clusterv1beta1.PlacementConditionSatisfied, ReasonNoIntersect, "")
	case r.choice.problem == nil:
		return false
	case r.brokenExpressions() != nil:
		return r.respecified() || r.saidBefore(clusterv1beta1.PlacementConditionMisconfigured, ReasonMisconfigured, "spec.predicates")
	}
	return true
}

// saidBefore reports whether the prior decision has such a condition.
func (r *Ranking) saidBefore(kind, reason, message string) bool {
	return slices.ContainsFunc(r.prior.Decision.Conditions, func(c schemas.Condition) bool {
		return c.Type == kind && c.Reason == reason && strings.HasPrefix(c.Message, message)
	})
}

// stay selects what was selected before, with the totals and groups of then.
// A cluster that is gone, or in no set that is bound any more, is not kept.
func (r *Ranking) stay() {
	c, prior := &r.choice, r.prior.Decision
	c.stays, c.ids, c.groups, c.list = true, c.ids[:0], c.groups[:0], c.list[:0]
	for i, id := range r.before.ids {
		known := r.fleet.clusters[id]
		if known == nil || known.source.Deleting || !inAny(r.scope.bound, known) {
			continue
		}
		was := prior.Clusters[i]
		r.totals[id] = int32(was.Score)
		c.ids, c.groups = append(c.ids, id), append(c.groups, was.Group)
	}
	c.list = keptGroups(prior.Groups, c.groups)
}

// keptGroups is the groups of before with the clusters that are left. Where
// the decision does not name them, they have no names.
func keptGroups(before []schemas.DecisionGroup, of []int) []schemas.DecisionGroup {
	list := slices.Clone(before)
	for i := range list {
		list[i].Count = 0
	}
	for _, group := range of {
		for group >= len(list) {
			list = append(list, schemas.DecisionGroup{})
		}
		list[group].Count++
	}
	if len(list) == 0 {
		list = append(list, schemas.DecisionGroup{})
	}
	return list
}
