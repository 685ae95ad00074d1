package difftest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Answer is what the hub shows of one Placement's decision, as far as two
// deciders must agree on it.
type Answer struct {
	Clusters []string // sorted
	Selected int32    // the status' number of them
	Groups   []Group
	// Faults are what is wrong with the pages themselves: nobody may have any.
	Faults []string
	// Satisfied and Misconfigured are status and reason of the conditions, ""
	// where there is none.
	Satisfied, Misconfigured string
}

// Group is a decision group: as the status has it, with the clusters of the
// pages that carry its index.
type Group struct {
	Name     string
	Count    int32
	Clusters []string // sorted
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
	for i, g := range p.Status.DecisionGroups {
		a.Groups = append(a.Groups, Group{Name: g.DecisionGroupName, Count: g.ClustersCount, Clusters: []string{}})
		if int(g.DecisionGroupIndex) != i {
			a.fault("group %d has index %d", i, g.DecisionGroupIndex)
		}
	}
	for i := range pages {
		a.add(p, &pages[i])
	}
	slices.Sort(a.Clusters)
	for _, g := range a.Groups {
		slices.Sort(g.Clusters)
	}
	slices.Sort(a.Faults)
	return a
}

// maxPage is OCM's bound of decisions in a page.
const maxPage = 100

func (a *Answer) add(p *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision) {
	var names []string
	for _, d := range page.Status.Decisions {
		names = append(names, d.ClusterName)
	}
	a.Clusters = append(a.Clusters, names...)
	if len(names) > maxPage {
		a.fault("page %s has %d decisions", page.Name, len(names))
	}
	index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	if err != nil || index < 0 || index >= len(a.Groups) {
		a.fault("page %s is of group %q", page.Name, page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
		return
	}
	g := &a.Groups[index]
	g.Clusters = append(g.Clusters, names...)
	if name, labelled := page.Labels[clusterv1beta1.DecisionGroupNameLabel]; !labelled || name != g.Name {
		a.fault("page %s is of group %q, the status calls it %q", page.Name, name, g.Name)
	}
	if !slices.Contains(p.Status.DecisionGroups[index].Decisions, page.Name) {
		a.fault("page %s is not in the status", page.Name)
	}
}

func (a *Answer) fault(format string, args ...any) {
	a.Faults = append(a.Faults, fmt.Sprintf(format, args...))
}

// Given reports whether anybody has decided yet.
func (a Answer) Given() bool { return a.Satisfied != "" && a.Misconfigured != "" }

func (a Answer) String() string {
	text := fmt.Sprintf("clusters [%s], numberOfSelectedClusters %d, PlacementSatisfied %s, PlacementMisconfigured %s",
		strings.Join(a.Clusters, " "), a.Selected, a.Satisfied, a.Misconfigured)
	for _, g := range a.Groups {
		text += fmt.Sprintf(", group %q %d [%s]", g.Name, g.Count, strings.Join(g.Clusters, " "))
	}
	if len(a.Faults) > 0 {
		text += ", faults: " + strings.Join(a.Faults, "; ")
	}
	return text
}

// Same reports whether both answers are given, sound and equal.
func Same(a, b Answer) bool {
	return a.Given() && b.Given() && len(a.Faults) == 0 && len(b.Faults) == 0 && slices.Equal(a.Clusters, b.Clusters) &&
		a.Selected == b.Selected && a.Satisfied == b.Satisfied && a.Misconfigured == b.Misconfigured &&
		slices.EqualFunc(a.Groups, b.Groups, func(x, y Group) bool {
			return x.Name == y.Name && x.Count == y.Count && slices.Equal(x.Clusters, y.Clusters)
		})
}

func condition(p *clusterv1beta1.Placement, kind string) string {
	c := meta.FindStatusCondition(p.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + "/" + c.Reason
}
