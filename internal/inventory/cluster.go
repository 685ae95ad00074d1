package inventory

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Cluster is a cluster as the hub knows it, or as its metrics do.
type Cluster struct {
	Name string `json:"name"`
	// OnHub is false for a cluster that only its metrics speak of.
	OnHub    bool              `json:"onHub"`
	Deleting bool              `json:"deleting,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Claims   map[string]string `json:"claims,omitempty"`
	Taints   []schemas.Taint   `json:"taints,omitempty"`
	// Cordon is what keeps direct Placements from it, nil for nothing.
	Cordon  *Cordon  `json:"cordon,omitempty"`
	Sources []Source `json:"sources"`
}

// Source is one source of metrics of a cluster.
type Source struct {
	Name       string    `json:"name"`
	Samples    int       `json:"samples"`
	ObservedAt time.Time `json:"observedAt"`
	// ReceivedAt is later by as long as the newest snapshot waited before it
	// reached the bus.
	ReceivedAt time.Time `json:"receivedAt"`
}

// LastMetric is when the newest metric of the cluster was current, or zero.
func (c *Cluster) LastMetric() time.Time {
	var last time.Time
	for _, s := range c.Sources {
		if s.ObservedAt.After(last) {
			last = s.ObservedAt
		}
	}
	return last
}

// Clusters lists the clusters of SW_HUB and SW_METRICS, and those that are
// cordoned, sorted by name.
func Clusters(s *State) []Cluster {
	byName := map[string]*Cluster{}
	get := func(name string) *Cluster {
		if byName[name] == nil {
			byName[name] = &Cluster{Name: name, Sources: []Source{}}
		}
		return byName[name]
	}
	for _, e := range Entries[*schemas.Cluster](s, events.FamilyHub) {
		c := get(e.Value.Name)
		c.OnHub, c.Deleting = true, e.Value.Deleting
		c.Labels, c.Claims, c.Taints = e.Value.Labels, e.Value.Claims, e.Value.Taints
	}
	for _, e := range Entries[*schemas.Metrics](s, events.FamilyMetric) {
		c := get(e.Subject.Cluster)
		c.Sources = append(c.Sources, Source{
			Name: e.Subject.Name, Samples: len(e.Value.Samples), ObservedAt: e.ObservedAt, ReceivedAt: e.Message.ReceivedAt,
		})
	}
	for name, cordon := range cordons(s) {
		get(name).Cordon = cordon
	}
	clusters := make([]Cluster, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		clusters = append(clusters, *byName[name])
	}
	return clusters
}
