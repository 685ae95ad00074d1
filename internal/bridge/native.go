package bridge

import (
	"slices"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// CauseObserved is the cause of every decision that OCM made.
const CauseObserved = "ObservedOnHub"

// Native says what OCM decided for p as a decision event, or nil where there
// is nothing new to say: p is direct, its PlacementDecisions are not OCM's,
// or previous (nil for none) says the same. now is server time.
func Native(p *clusterv1beta1.Placement, pages []*clusterv1beta1.PlacementDecision, previous *schemas.PlacementDecision, now time.Time) *schemas.PlacementDecision {
	observed := ObservedDecision(p, pages)
	if Direct(p) || observed == nil || observed.Writer != SchedulerOCM {
		return nil
	}
	d := &schemas.PlacementDecision{
		Placement: observed.Placement,
		Mode:      schemas.ModeNative,
		Scheduler: SchedulerOCM,
		Clusters:  []schemas.SelectedCluster{},
		Cause:     CauseObserved,
		Groups:    observedGroups(p.Name, pages),
		Now:       now,
	}
	d.Placement.Generation = p.Generation
	seen := map[string]bool{}
	for _, c := range observed.Clusters {
		if !seen[c.Name] { // OCM in the middle of a change can show one twice
			d.Clusters = append(d.Clusters, schemas.SelectedCluster{Name: c.Name, Group: c.Group})
		}
		seen[c.Name] = true
	}
	if sameNative(previous, d) {
		return nil
	}
	d.Added, d.Removed = difference(previous, d)
	return d
}

// observedGroups are the groups as the pages' labels name them.
func observedGroups(placement string, pages []*clusterv1beta1.PlacementDecision) []schemas.DecisionGroup {
	var groups []schemas.DecisionGroup
	for _, page := range pages {
		g := groupOf(page)
		if page.Labels[clusterv1beta1.PlacementLabel] != placement || g < 0 || g > maxGroups {
			continue
		}
		for len(groups) <= g {
			groups = append(groups, schemas.DecisionGroup{})
		}
		groups[g].Name = page.Labels[clusterv1beta1.DecisionGroupNameLabel]
		groups[g].Count += len(page.Status.Decisions)
	}
	return groups
}

// maxGroups bounds what a label can make the bridge hold in memory.
const maxGroups = 10_000

func sameNative(a, b *schemas.PlacementDecision) bool {
	return a != nil && a.Mode == b.Mode && a.Scheduler == b.Scheduler && a.Placement.UID == b.Placement.UID &&
		slices.Equal(a.Clusters, b.Clusters) && slices.Equal(a.Groups, b.Groups)
}

// difference returns the names in b and not in a, and those in a and not in
// b, sorted.
func difference(a, b *schemas.PlacementDecision) (added, removed []string) {
	before, after := names(a), names(b)
	for name := range after {
		if !before[name] {
			added = append(added, name)
		}
	}
	for name := range before {
		if !after[name] {
			removed = append(removed, name)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	return added, removed
}

func names(d *schemas.PlacementDecision) map[string]bool {
	out := map[string]bool{}
	if d != nil {
		for _, c := range d.Clusters {
			out[c.Name] = true
		}
	}
	return out
}
