package placement

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Difference says how much a decision differs from the one before it.
type Difference int

// Differences.
const (
	// Same: nothing that anybody would miss.
	Same Difference = iota
	// ScoresOnly: the totals, the order of more clusters than are explained,
	// or the numbers of those rejected.
	ScoresOnly
	// Material: the selection, the order of a selection that is explained in
	// full, the groups, a condition, why a cluster is selected, or the
	// Placement itself.
	Material
)

// Changed compares two decisions. A Material difference is published at once,
// scores alone at most at the Placement's scoreRateLimit.
func Changed(prior, next *schemas.PlacementDecision) Difference {
	if prior == nil || prior.Placement != next.Placement || prior.Mode != next.Mode || prior.Scheduler != next.Scheduler ||
		len(prior.Clusters) != len(next.Clusters) || !slices.Equal(prior.Groups, next.Groups) {
		return Material
	}
	conditions := changedConditions(prior.Conditions, next.Conditions)
	clusters := changedClusters(prior.Clusters, next.Clusters)
	counts := Same
	if prior.Considered != next.Considered || !maps.Equal(prior.Rejected, next.Rejected) {
		counts = ScoresOnly
	}
	return max(conditions, clusters, counts, changedHolds(prior.Explanations, next.Explanations), changedBehind(prior.Flap, next.Flap),
		changedRebalance(prior.Rebalance, next.Rebalance))
}

func changedConditions(prior, next []schemas.Condition) Difference {
	out := Same
	if len(prior) != len(next) {
		return Material
	}
	for i, p := range prior {
		n := next[i]
		switch {
		case p == n:
		case p.Type != n.Type, p.Status != n.Status, p.Reason != n.Reason, n.Reason != ReasonNoneMatched:
			return Material
		default: // the message of this one counts clusters
			out = ScoresOnly
		}
	}
	return out
}

func changedClusters(prior, next []schemas.SelectedCluster) Difference {
	if slices.Equal(prior, next) {
		return Same
	}
	groups := make(map[string]int, len(prior))
	for _, c := range prior {
		groups[c.Name] = c.Group
	}
	sameOrder := true
	for i, c := range next {
		if group, selected := groups[c.Name]; !selected || group != c.Group {
			return Material
		}
		sameOrder = sameOrder && prior[i].Name == c.Name
	}
	if !sameOrder && len(next) <= schemas.MaxExplainedSelected {
		return Material
	}
	return ScoresOnly
}

// changedHolds compares why clusters are selected, as far as both say so.
func changedHolds(prior, next []schemas.Explanation) Difference {
	reasons := holds(prior)
	for name, reason := range holds(next) {
		if was, explained := reasons[name]; explained && was != reason {
			return Material
		}
	}
	return Same
}

// changedBehind compares who is behind, and since when: the next decision
// must know.
func changedBehind(prior, next *schemas.Flap) Difference {
	if prior == nil {
		prior = &schemas.Flap{}
	}
	if next == nil {
		next = &schemas.Flap{}
	}
	same := slices.EqualFunc(prior.Behind, next.Behind, func(p, n schemas.Cohort) bool {
		return p.At.Equal(n.At) && slices.Equal(p.Clusters, n.Clusters)
	})
	if same {
		return Same
	}
	return Material
}

func holds(all []schemas.Explanation) map[string]string {
	out := map[string]string{}
	for _, e := range all {
		if e.Reason == ExplainedSelected || e.Reason == ExplainedHeld {
			out[e.Cluster] = e.Reason
		}
	}
	return out
}

// Difference compares the ranking's choice with the prior decision, as
// Changed does, without writing the decision out.
func (r *Ranking) Difference() Difference {
	if r.prior == nil {
		return Material
	}
	d := r.prior.Decision
	if d.Placement != r.ref() || d.Mode != r.mode() || d.Scheduler != SchedulerSpokewire ||
		len(d.Clusters) != len(r.choice.ids) || !slices.Equal(d.Groups, r.choice.list) {
		return Material
	}
	out := changedConditions(d.Conditions, r.choice.conditions[:])
	if d.Considered != r.considered() || r.rejectedDiffers(d.Rejected) {
		out = max(out, ScoresOnly)
	}
	if !r.sameBehind() || changedRebalance(d.Rebalance, r.rebalanceState()) != Same {
		return Material
	}
	return max(out, r.changedClusters(d.Clusters), r.changedHolds(d.Explanations))
}

func (r *Ranking) sameBehind() bool {
	return maps.Equal(r.before.behind, r.control.behind)
}

func (r *Ranking) changedClusters(prior []schemas.SelectedCluster) Difference {
	out := Same
	for i, id := range r.choice.ids {
		was := r.positionBefore(id)
		switch {
		case was == none || prior[was].Group != r.choice.groups[i]:
			return Material
		case int(was) != i && len(prior) <= schemas.MaxExplainedSelected:
			return Material
		case int(was) != i || prior[was].Score != r.total(id):
			out = ScoresOnly
		}
	}
	return out
}

func (r *Ranking) changedHolds(prior []schemas.Explanation) Difference {
	for _, e := range prior {
		if e.Reason != ExplainedSelected && e.Reason != ExplainedHeld {
			continue
		}
		id := r.fleet.id(e.Cluster)
		explained := r.choice.ids[:min(len(r.choice.ids), schemas.MaxExplainedSelected)]
		if slices.Contains(explained, id) && r.selectedAs(id) != e.Reason {
			return Material
		}
	}
	return Same
}

func (r *Ranking) rejectedDiffers(prior map[string]int) bool {
	n := 0
	for reason := notInClusterSet; reason < absent; reason++ {
		if r.counts[reason] != prior[reason.String()] {
			return true
		}
		if r.counts[reason] > 0 {
			n++
		}
	}
	return n != len(prior)
}

// PublishAt returns from when on the choice may be published; false where it
// need not be.
func (r *Ranking) PublishAt() (time.Time, bool) {
	switch r.Difference() {
	case Material:
		return time.Unix(0, r.now).UTC(), true
	case ScoresOnly:
		return r.prior.Decision.Now.Add(r.placement.scoreLimit), true
	}
	return time.Time{}, false
}
