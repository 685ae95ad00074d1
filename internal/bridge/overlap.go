package bridge

import (
	"cmp"
	"maps"
	"slices"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Overlap is a move on its way, of a Placement that wants clusters to arrive
// before others leave. The zero value is none.
type Overlap struct {
	// Arriving are selected clusters for which others wait.
	Arriving map[string]bool
	// Leaving are those that stand on the pages though they are not selected
	// any more, by since when their time runs: zero until all that arrive
	// stand there too.
	Leaving map[string]time.Time
	// Late are those whose time is over, by name, and Over says that none is
	// left that leaves. End fills both.
	Late []string
	Over bool
}

// Rollout is how far one workload has come on one cluster.
type Rollout struct {
	Cluster  string
	Workload string
	// Up is true once it runs there as it is to run.
	Up bool
}

// Begin returns the move from the pages of stock to groups, o being the move
// before. at is when the time begins to run of those that leave from now on.
// Where nothing arrives, nothing waits either, so nothing leaves. A bridge that
// has just begun (first) does not know what arrived before: then whatever is
// selected may have.
func (o Overlap) Begin(stock Stock, groups []Group, at time.Time, first bool) Overlap {
	standing, selected := standingOn(stock.Pages), map[string]bool{}
	next := Overlap{Arriving: map[string]bool{}, Leaving: map[string]time.Time{}}
	for _, g := range groups {
		for _, d := range g.Decisions {
			selected[d.ClusterName] = true
			if _, stands := standing[d.ClusterName]; !stands || first || o.Arriving[d.ClusterName] {
				next.Arriving[d.ClusterName] = true
			}
		}
	}
	written := next.standsOn(standing)
	for name := range standing {
		if selected[name] {
			continue
		}
		since := o.Leaving[name]
		if since.IsZero() && written {
			since = at
		}
		next.Leaving[name] = since
	}
	if len(next.Leaving) == 0 || len(next.Arriving) == 0 {
		return Overlap{}
	}
	return next
}

// Written reports whether the clusters that arrive all stand on the pages.
func (o Overlap) Written(stock Stock) bool {
	return len(o.Leaving) > 0 && o.standsOn(standingOn(stock.Pages))
}

func (o Overlap) standsOn(standing map[string]stand) bool {
	for name := range o.Arriving {
		if _, stands := standing[name]; !stands {
			return false
		}
	}
	return true
}

// End returns what is left of a move that is Written: all of it is over once
// every workload that a leaving cluster runs is up on each one that arrives. A
// cluster that has been leaving for longer than limit, or that the hub has not
// any more, waits for nobody. Where no workload is known, it is that time alone.
func (o Overlap) End(rollouts []Rollout, limit time.Duration, now time.Time, exists func(cluster string) bool) Overlap {
	if o.arrived(rollouts) {
		return Overlap{Over: true}
	}
	left := Overlap{Arriving: o.Arriving, Leaving: map[string]time.Time{}}
	for _, name := range o.Names() {
		switch since := o.Leaving[name]; {
		case !exists(name):
		case !now.Before(since.Add(limit)):
			left.Late = append(left.Late, name)
		default:
			left.Leaving[name] = since
		}
	}
	left.Over = len(left.Leaving) == 0
	return left
}

func (o Overlap) arrived(rollouts []Rollout) bool {
	workloads, up := map[string]bool{}, map[Rollout]bool{}
	for _, r := range rollouts {
		if _, leaving := o.Leaving[r.Cluster]; leaving {
			workloads[r.Workload] = true
		}
		up[r] = true
	}
	for workload := range workloads {
		for cluster := range o.Arriving {
			if !up[Rollout{cluster, workload, true}] {
				return false
			}
		}
	}
	return len(workloads) > 0
}

// Next is when the first of the leaving clusters has waited for limit, zero
// while the time of none runs.
func (o Overlap) Next(limit time.Duration) time.Time {
	var next time.Time
	for _, since := range o.Leaving {
		if at := since.Add(limit); !since.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// Clusters are all that the move is about: those that arrive, by name, then
// those that leave.
func (o Overlap) Clusters() []string {
	return append(slices.Sorted(maps.Keys(o.Arriving)), o.Names()...)
}

// Names are the leaving clusters, by name.
func (o Overlap) Names() []string { return slices.Sorted(maps.Keys(o.Leaving)) }

// With returns groups and the leaving clusters, each in the group in which it
// stands, or in the first where that is no more.
func (o Overlap) With(stock Stock, groups []Group, sortBy clusterv1beta1.PlacementSortByType) []Group {
	if len(o.Leaving) == 0 {
		return groups
	}
	out := slices.Clone(groups)
	standing := standingOn(stock.Pages)
	for _, name := range o.Names() {
		at, stands := standing[name]
		if !stands {
			continue
		}
		group := at.group
		if group < 0 || group >= len(out) {
			group = 0
		}
		out[group].Decisions = append(slices.Clone(out[group].Decisions), at.decision)
	}
	sortGroups(out, sortBy)
	return out
}

type stand struct {
	group    int
	decision clusterv1beta1.ClusterDecision
}

// standingOn is where each cluster stands.
func standingOn(pages []Page) map[string]stand {
	out := map[string]stand{}
	for _, page := range pages {
		for _, d := range page.Decisions {
			if _, twice := out[d.ClusterName]; !twice {
				out[d.ClusterName] = stand{page.Group, d}
			}
		}
	}
	return out
}

// sortGroups orders each group as OCM's sortBy says: by rank, which is how it
// comes, for Score, else by name.
func sortGroups(groups []Group, sortBy clusterv1beta1.PlacementSortByType) {
	if sortBy == clusterv1beta1.PlacementSortByScore {
		return
	}
	for _, g := range groups {
		slices.SortFunc(g.Decisions, func(a, b clusterv1beta1.ClusterDecision) int {
			return cmp.Compare(a.ClusterName, b.ClusterName)
		})
	}
}
