package inquiry

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Ours reports whether Spokewire made the decision, so that it can be made
// again.
func Ours(d *schemas.PlacementDecision) bool { return d.Scheduler == placement.SchedulerSpokewire }

// Compare lists how a decision differs from another one, field by field, at
// most schemas.MaxDifferences. Where they stand, what they rest on and when
// they were made is no difference, nor what set them off.
func Compare(was, is *schemas.PlacementDecision) []schemas.Difference {
	c := &comparison{}
	c.text("clusters", names(was), names(is))
	c.value("scores", scoresOf(was), scoresOf(is))
	c.value("groups", groupsOf(was), groupsOf(is))
	c.value("conditions", was.Conditions, is.Conditions)
	c.value("considered", was.Considered, is.Considered)
	c.value("rejected", was.Rejected, is.Rejected)
	c.value("rebalance", was.Rebalance, is.Rebalance)
	c.text("cause", was.Cause, is.Cause)
	c.text("message", was.Message, is.Message)
	c.value("added", was.Added, is.Added)
	c.value("removed", was.Removed, is.Removed)
	c.value("timers", was.Timers, is.Timers)
	c.value("placement", was.Placement, is.Placement)
	c.explanations(was.Explanations, is.Explanations)
	return c.found
}

type comparison struct{ found []schemas.Difference }

// maxText bounds one side of a difference, in bytes.
const maxText = 512

func (c *comparison) text(field, was, is string) {
	if was == is || len(c.found) >= schemas.MaxDifferences {
		return
	}
	c.found = append(c.found, schemas.Difference{Field: field, Was: cut(was), Is: cut(is)})
}

func (c *comparison) value(field string, was, is any) {
	if reflect.DeepEqual(was, is) {
		return
	}
	c.text(field, written(was), written(is))
}

// written is v as JSON, empty for nothing: what is absent in a decision may
// be nil or empty in another.
func written(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	switch s := string(text); s {
	case "null", "[]", "{}":
		return ""
	default:
		return s
	}
}

func (c *comparison) explanations(was, is []schemas.Explanation) {
	find := func(all []schemas.Explanation, cluster string) any {
		for i := range all {
			if all[i].Cluster == cluster {
				return all[i]
			}
		}
		return nil
	}
	for i := range was {
		c.value("explanations."+was[i].Cluster, was[i], find(is, was[i].Cluster))
	}
	for i := range is {
		if find(was, is[i].Cluster) == nil {
			c.value("explanations."+is[i].Cluster, nil, is[i])
		}
	}
}

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

func names(d *schemas.PlacementDecision) string {
	return strings.Join(placement.SelectedNames(d), ", ")
}

func scoresOf(d *schemas.PlacementDecision) map[string]int64 {
	out := map[string]int64{}
	for _, c := range d.Clusters {
		out[c.Name] = c.Score
	}
	return out
}

func groupsOf(d *schemas.PlacementDecision) []string {
	out := make([]string, len(d.Groups))
	for i, g := range d.Groups {
		out[i] = fmt.Sprintf("%s(%d)", g.Name, g.Count)
	}
	if len(d.Groups) < 2 {
		return out
	}
	for _, c := range d.Clusters {
		if c.Group >= 0 && c.Group < len(out) {
			out[c.Group] += " " + c.Name
		}
	}
	return out
}
