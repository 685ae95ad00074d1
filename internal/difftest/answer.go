package difftest

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Answer is what the hub shows of one Placement's decision, as far as two
// deciders must agree on it.
type Answer struct {
	Clusters []string // sorted
	Selected int32    // the status' number of them
	// Satisfied and Misconfigured are status and reason of the conditions, ""
	// where there is none.
	Satisfied, Misconfigured string
}

// Read puts an Answer together. pages are the PlacementDecisions with p's
// label.
func Read(p *clusterv1beta1.Placement, pages []clusterv1beta1.PlacementDecision) Answer {
	a := Answer{
		Clusters:      []string{},
		Selected:      p.Status.NumberOfSelectedClusters,
		Satisfied:     condition(p, clusterv1beta1.PlacementConditionSatisfied),
		Misconfigured: condition(p, clusterv1beta1.PlacementConditionMisconfigured),
	}
	for _, page := range pages {
		for _, d := range page.Status.Decisions {
			a.Clusters = append(a.Clusters, d.ClusterName)
		}
	}
	slices.Sort(a.Clusters)
	return a
}

// Given reports whether anybody has decided yet.
func (a Answer) Given() bool { return a.Satisfied != "" && a.Misconfigured != "" }

func (a Answer) String() string {
	return fmt.Sprintf("clusters [%s], numberOfSelectedClusters %d, PlacementSatisfied %s, PlacementMisconfigured %s",
		strings.Join(a.Clusters, " "), a.Selected, a.Satisfied, a.Misconfigured)
}

// Same reports whether both answers are given and equal.
func Same(a, b Answer) bool {
	return a.Given() && b.Given() && slices.Equal(a.Clusters, b.Clusters) && a.Selected == b.Selected &&
		a.Satisfied == b.Satisfied && a.Misconfigured == b.Misconfigured
}

func condition(p *clusterv1beta1.Placement, kind string) string {
	c := meta.FindStatusCondition(p.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + "/" + c.Reason
}
