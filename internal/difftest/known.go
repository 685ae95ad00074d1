package difftest

import (
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Outcome is both answers to one Placement, and what Spokewire's was before
// the fleet changed; the zero Answer where it is new.
type Outcome struct{ Native, Direct, Before Answer }

// Known says why Spokewire may answer otherwise than OCM, "" where it must
// not. docs/placement.md argues each.
func (f *Fleet) Known(p *clusterv1beta1.Placement, now time.Time, o Outcome) string {
	if len(o.Direct.Faults)+len(o.Native.Faults) > 0 {
		return ""
	}
	if why := f.knownChoice(p, now); why != "" && o.choiceAlone(p) {
		return why
	}
	if !f.kept(o) {
		return ""
	}
	return o.known(p)
}

// knownChoice says why Spokewire may choose other clusters than OCM.
func (f *Fleet) knownChoice(p *clusterv1beta1.Placement, now time.Time) string {
	zero := p.Annotations[annotationStalePolicy] == stalePolicyZero
	switch {
	// Its nanoseconds overflow in OCM, so that it does not tolerate at all.
	case slices.ContainsFunc(p.Spec.Tolerations, overflows):
		return "tolerationSeconds of more than 292 years"
	// OCM counts 0, so that it outranks a bad score.
	case !zero && f.lacksScore(p, now):
		return "a score is missing or expired"
	// OCM does not look at its expiry there.
	case !zero && readsScores(p) && f.expired(now):
		return "an expression reads a score that expired"
	}
	return ""
}

const misconfigured, configured = "True/Misconfigured", "False/Succeedconfigured"

// choiceAlone reports whether the answers differ in nothing but the clusters
// and what follows from these. An expression that lacks the score that it
// reads may fail on every cluster.
func (o Outcome) choiceAlone(p *clusterv1beta1.Placement) bool {
	n, d := o.Native, o.Direct
	failed := readsScores(p) && n.Misconfigured == configured && d.Misconfigured == misconfigured
	if n.Misconfigured != d.Misconfigured && !failed {
		return false
	}
	return n.Satisfied == d.Satisfied || ofChoice(n.Satisfied) && ofChoice(d.Satisfied)
}

// ofChoice reports whether PlacementSatisfied says how many were chosen, and
// not which sets there are to choose from.
func ofChoice(satisfied string) bool {
	_, reason, _ := strings.Cut(satisfied, "/")
	return slices.Contains([]string{"AllDecisionsScheduled", "NotAllDecisionsScheduled", "NoManagedClusterMatched"}, reason)
}

// known compares the answers where a slip in a spec leaves Spokewire's
// decision as it was, and says so, while OCM selects nothing.
func (o Outcome) known(p *clusterv1beta1.Placement) string {
	emptied := len(o.Native.Clusters) == 0
	switch n, d := o.Native, o.Direct; {
	case emptied && n.Misconfigured == misconfigured && d.Misconfigured == misconfigured && badShare(p):
		return "a bad clustersPerDecisionGroup leaves OCM's status without decisions"
	case emptied && n.Misconfigured == misconfigured && d.Misconfigured == misconfigured && len(d.Clusters) > 0:
		return "a bad spec keeps the last good decision"
	case emptied && n.Satisfied == "False/NoIntersection" && d.Satisfied == n.Satisfied && n.Misconfigured == d.Misconfigured:
		return "a spec that names no bound set keeps the last good decision"
	case emptied && n.Satisfied == "False/NoManagedClusterMatched" && n.Misconfigured == configured && d.Misconfigured == misconfigured && usesCEL(p):
		return "an expression that fails on every cluster is misconfigured"
	case n.Misconfigured == configured && d.Misconfigured == misconfigured && groupNamesTwice(p):
		return "two decision groups of one name are misconfigured"
	case n.Misconfigured == configured && d.Misconfigured == misconfigured && readsUncarried(p):
		return "an expression reads what Spokewire does not carry"
	}
	return ""
}

// kept reports whether the direct decision can be one of before: where there
// was none it selects nothing, and else only clusters that are there still.
func (f *Fleet) kept(o Outcome) bool {
	if len(o.Direct.Clusters) == 0 || !o.Before.Given() {
		return len(o.Direct.Clusters) == 0
	}
	living := map[string]bool{}
	for _, c := range f.Clusters {
		living[c.Name] = c.DeletionTimestamp == nil
	}
	return !slices.ContainsFunc(o.Direct.Clusters, func(name string) bool { return !living[name] })
}

func usesCEL(p *clusterv1beta1.Placement) bool { return len(expressionsOf(p)) > 0 }

func expressionsOf(p *clusterv1beta1.Placement) []string {
	var out []string
	for _, predicate := range p.Spec.Predicates {
		out = append(out, predicate.RequiredClusterSelector.CelSelector.CelExpressions...)
	}
	return out
}

func readsScores(p *clusterv1beta1.Placement) bool {
	return slices.ContainsFunc(expressionsOf(p), func(e string) bool { return strings.Contains(e, ".scores(") })
}

func readsUncarried(p *clusterv1beta1.Placement) bool {
	return slices.Contains(expressionsOf(p), uncarried)
}

func groupNamesTwice(p *clusterv1beta1.Placement) bool {
	seen := map[string]bool{}
	for _, g := range p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups {
		if seen[g.GroupName] {
			return true
		}
		seen[g.GroupName] = true
	}
	return false
}

func badShare(p *clusterv1beta1.Placement) bool {
	per := p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup
	return per.Type == intstr.String && !strings.HasSuffix(per.StrVal, "%")
}

func (f *Fleet) expired(now time.Time) bool {
	return slices.ContainsFunc(f.Scores, func(s *clusterv1alpha1.AddOnPlacementScore) bool {
		return s.Status.ValidUntil != nil && !now.Before(s.Status.ValidUntil.Time)
	})
}

func overflows(t clusterv1beta1.Toleration) bool {
	return t.TolerationSeconds != nil && *t.TolerationSeconds > int64(math.MaxInt64/time.Second)
}

func (f *Fleet) lacksScore(p *clusterv1beta1.Placement, now time.Time) bool {
	for _, config := range p.Spec.PrioritizerPolicy.Configurations {
		if config.ScoreCoordinate == nil || config.ScoreCoordinate.AddOn == nil {
			continue
		}
		for _, c := range f.Clusters {
			if !f.hasScore(c.Name, config.ScoreCoordinate.AddOn, now) {
				return true
			}
		}
	}
	return false
}

func (f *Fleet) hasScore(cluster string, wanted *clusterv1beta1.AddOnScore, now time.Time) bool {
	for _, s := range f.Scores {
		if s.Namespace == cluster && s.Name == wanted.ResourceName && (s.Status.ValidUntil == nil || now.Before(s.Status.ValidUntil.Time)) {
			return hasItem(s, wanted.ScoreName)
		}
	}
	return false
}

func hasItem(s *clusterv1alpha1.AddOnPlacementScore, name string) bool {
	for _, item := range s.Status.Scores {
		if item.Name == name {
			return true
		}
	}
	return false
}
