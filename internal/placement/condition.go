package placement

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Reasons of the conditions, as OCM has them.
const (
	ReasonNoBindings    = "NoManagedClusterSetBindings"
	ReasonNoIntersect   = "NoIntersection"
	ReasonSetsEmpty     = "AllManagedClusterSetsEmpty"
	ReasonNoneMatched   = "NoManagedClusterMatched"
	ReasonSatisfied     = "AllDecisionsScheduled"
	ReasonUnsatisfied   = "NotAllDecisionsScheduled"
	ReasonMisconfigured = "Misconfigured"
	ReasonConfigured    = "Succeedconfigured"
)

const (
	conditionTrue  = "True"
	conditionFalse = "False"
)

func (r *Ranking) conditions() [2]schemas.Condition {
	return [2]schemas.Condition{r.satisfied(), r.misconfigured()}
}

func (r *Ranking) misconfigured() schemas.Condition {
	c := schemas.Condition{
		Type: clusterv1beta1.PlacementConditionMisconfigured, Status: conditionFalse,
		Reason: ReasonConfigured, Message: "The Placement's configuration is sound",
	}
	problem := r.choice.problem
	if problem == nil {
		problem = errors.Join(r.policy.wrong, r.placement.wrongLimit)
	}
	if problem != nil {
		c.Status, c.Reason, c.Message = conditionTrue, ReasonMisconfigured, problem.Error()
	}
	return c
}

func (r *Ranking) satisfied() schemas.Condition {
	c := schemas.Condition{Type: clusterv1beta1.PlacementConditionSatisfied, Status: conditionFalse}
	missing := 0
	if n := r.placement.Spec.NumberOfClusters; n != nil {
		missing = int(*n) - len(r.choice.ids)
	}
	switch {
	case r.scope.bindings == 0:
		c.Reason, c.Message = ReasonNoBindings, r.noBindings()
	case len(r.scope.sets) == 0:
		c.Reason, c.Message = ReasonNoIntersect, r.noIntersection()
	case r.available() == 0:
		c.Reason = ReasonSetsEmpty
		c.Message = fmt.Sprintf("No ManagedCluster is in the ManagedClusterSets [%s]", join(r.scope.names))
	case r.choice.stays && len(r.choice.ids) > 0:
		c.Reason, c.Message = ReasonUnsatisfied, r.kept()
	case len(r.choice.ids) == 0:
		c.Reason, c.Message = ReasonNoneMatched, r.noneMatched()
	case missing == 0:
		c.Status, c.Reason, c.Message = conditionTrue, ReasonSatisfied, "As many clusters are selected as the Placement wants"
	default:
		c.Reason = ReasonUnsatisfied
		c.Message = r.unsatisfied(missing)
	}
	return c
}

func (r *Ranking) unsatisfied(missing int) string {
	lacks := fmt.Sprintf("%d clusters are", missing)
	if missing == 1 {
		lacks = "1 cluster is"
	}
	text := fmt.Sprintf("%s missing: %d selected, the Placement wants %d", lacks, len(r.choice.ids), *r.placement.Spec.NumberOfClusters)
	if left := len(r.order) - len(r.choice.ids); left > 0 {
		text += fmt.Sprintf("; spec.spreadPolicy keeps %d eligible clusters out", left)
	}
	if n := r.counts[cordoned]; n > 0 {
		text += fmt.Sprintf("; %d cordoned", n)
	}
	return text
}

// available counts the clusters of the sets that are not on their way out.
func (r *Ranking) available() int {
	return len(r.verdicts) - r.counts[absent] - r.counts[notInClusterSet] - r.counts[terminating]
}

func (r *Ranking) noBindings() string {
	namespace := r.placement.Object.Namespace
	for _, name := range slices.Sorted(maps.Keys(r.fleet.refused)) {
		if r.fleet.bindings[Key{namespace, name}] == name {
			return fmt.Sprintf("No ManagedClusterSet to select from: %s", r.fleet.senseless(name))
		}
	}
	return fmt.Sprintf("No ManagedClusterSet is bound in namespace %s: create a ManagedClusterSetBinding there that is named like the set", namespace)
}

func (r *Ranking) noIntersection() string {
	var unknown, unbound, parts []string
	for _, name := range r.placement.Spec.ClusterSets {
		switch {
		case r.fleet.sets[name] != nil:
			unbound = append(unbound, name)
		case r.fleet.refused[name] != nil:
			parts = append(parts, r.fleet.senseless(name))
		default:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		parts = append(parts, fmt.Sprintf("the ManagedClusterSets [%s] do not exist", join(unknown)))
	}
	if len(unbound) > 0 {
		parts = append(parts, fmt.Sprintf("the ManagedClusterSets [%s] are not bound in namespace %s", join(unbound), r.placement.Object.Namespace))
	}
	message := "Nothing to select from: of spec.clusterSets " + strings.Join(parts, "; ")
	if r.choice.stays && len(r.choice.ids) > 0 {
		message += ". " + r.kept()
	}
	return message
}

func (r *Ranking) kept() string {
	return fmt.Sprintf("No decision can be made; the last one stays, with %d clusters", len(r.choice.ids))
}

// senseless says why a set that never made sense does not count.
func (f *Fleet) senseless(set string) string {
	return fmt.Sprintf("ManagedClusterSet %s does not count, correct it: %v", set, f.refused[set])
}

func (r *Ranking) noneMatched() string {
	if r.choice.problem != nil {
		return "The Placement is misconfigured, so no cluster is selected"
	}
	if len(r.order) > 0 {
		if r.wanted() > 0 {
			return r.spreadLetsNoneIn()
		}
		return "The Placement wants no cluster: spec.numberOfClusters is 0"
	}
	var parts []string
	for reason := failedExpression; reason < absent; reason++ {
		if n := r.counts[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, reason))
		}
	}
	message := fmt.Sprintf("None of %d clusters is eligible: %s", r.available(), join(parts))
	if r.counts[noScore]+r.counts[staleScore] > 0 {
		message += "; scores wanted: " + join(r.wantedScores())
	}
	return message
}

func (r *Ranking) wantedScores() []string {
	var names []string
	for _, t := range r.placement.terms {
		if t.kind == kindAddOn && !slices.Contains(names, t.name) {
			names = append(names, t.name)
		}
	}
	return names
}
