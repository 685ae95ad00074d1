package placement

import (
	"fmt"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Fact is one line of what there is to say of a decision.
type Fact struct{ Name, Text string }

// Facts are what a decision says of itself, for people: why it differs from
// the one before, and who is in and out. A fact may have no text.
func Facts(d *schemas.PlacementDecision) []Fact {
	cause := d.Cause
	if d.Message != "" {
		cause += ": " + d.Message
	}
	return []Fact{
		{"Cause", cause},
		{"Misconfigured", Misconfiguration(d)},
		{"Selected", Selection(d)},
		{"Added", brief.List(d.Added)},
		{"Removed", brief.List(d.Removed)},
		{"Not eligible", brief.List(brief.Counts(d.Rejected))},
	}
}

// Misconfiguration is what is wrong with the Placement, "" if nothing is. The
// decision is then made from the rest of it, or is the last one that could be
// made.
func Misconfiguration(d *schemas.PlacementDecision) string {
	for _, c := range d.Conditions {
		if c.Type == clusterv1beta1.PlacementConditionMisconfigured && c.Status == conditionTrue {
			return c.Message
		}
	}
	return ""
}

// Sentence is the facts in one line, without the name of the cause.
func Sentence(d *schemas.PlacementDecision) string {
	parts := []string{d.Message}
	if d.Message == "" {
		parts = nil
	}
	for _, f := range Facts(d)[1:] {
		if f.Text != "" {
			parts = append(parts, f.Name+": "+f.Text)
		}
	}
	return strings.Join(parts, ". ")
}

// Selected lists a decision's clusters, with their totals where the decision
// knows any: OCM keeps its own to itself.
func Selected(d *schemas.PlacementDecision) string {
	if len(d.Clusters) == 0 {
		return "none"
	}
	return brief.Of(len(d.Clusters), func(i int) string {
		if d.Mode == schemas.ModeNative {
			return d.Clusters[i].Name
		}
		return fmt.Sprintf("%s=%d", d.Clusters[i].Name, d.Clusters[i].Score)
	})
}

// Selection is Selected, and of how many clusters.
func Selection(d *schemas.PlacementDecision) string {
	text := Selected(d)
	if d.Considered > 0 {
		text += fmt.Sprintf(" (%d of %d considered)", len(d.Clusters), d.Considered)
	}
	return text
}

// tellingCauses are those of decisions that are news though nobody comes or
// goes: what holds a cluster, who was asked to leave or to move, and what the
// Placement's conditions say.
var tellingCauses = []string{
	CauseFirst, CauseAdopted, CauseSpecChanged, CauseTaintChanged, CauseCordonChanged,
	CauseScoreExpired, CauseScoreHeld, CauseMoveHeld, CauseRebalance, CauseCondition,
}

// News reports whether a decision is worth telling those who look at the
// Placement alone: a cluster comes or goes, or something other than scores
// made it. Scores alone change all the time.
func News(d *schemas.PlacementDecision) bool {
	return len(d.Added)+len(d.Removed) > 0 || slices.Contains(tellingCauses, d.Cause)
}
