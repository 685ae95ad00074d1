package inventory

import (
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Cordon is what an operator asked for of a cluster, and is in force.
type Cordon struct {
	// State is cordoned or draining.
	State  string     `json:"state"`
	Force  bool       `json:"force,omitempty"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until,omitempty"`
	By     string     `json:"by,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// cordons lists the cordons in force by cluster.
func cordons(s *State) map[string]*Cordon {
	out := map[string]*Cordon{}
	for _, e := range Entries[*schemas.Cordon](s, events.FamilyConfig) {
		spec := e.Value.Spec
		if spec.State == schemas.CordonLifted || spec.Until != nil && !s.Now().Before(*spec.Until) {
			continue
		}
		out[e.Subject.Name] = &Cordon{
			State: spec.State, Force: spec.Force, Since: e.Message.ReceivedAt,
			Until: spec.Until, By: spec.By, Reason: spec.Reason,
		}
	}
	return out
}

// Holder is a Placement that has selected a cluster.
type Holder struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Mode is direct or native.
	Mode string `json:"mode"`
	// Reason and Message are of the decision's explanation, empty where it
	// has none of the cluster.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Holders lists the Placements whose last decision selects the cluster,
// sorted by namespace and name. One in shadow mode is none: nothing comes of
// its decisions.
func Holders(s *State, cluster string) []Holder {
	holders := []Holder{}
	for _, p := range Placements(s) {
		d := p.Decision
		if d == nil || p.Mode == schemas.ModeShadow || !slices.ContainsFunc(d.Clusters, func(c schemas.SelectedCluster) bool { return c.Name == cluster }) {
			continue
		}
		h := Holder{Namespace: p.Namespace, Name: p.Name, Mode: p.Mode}
		for _, e := range d.Explanations {
			if e.Cluster == cluster {
				h.Reason, h.Message = e.Reason, e.Message
			}
		}
		holders = append(holders, h)
	}
	return holders
}
