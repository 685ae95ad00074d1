package capacity

import (
	"github.com/spokewire/spokewire/internal/sample"
)

// Labels of the samples.
const (
	resourceLabel = "resource"
	poolLabel     = "pool"
)

// Select hands the count to a selection, as series:
//
//	cluster_resource_{allocatable,requested,free,largest_free,pending}{resource}
//	cluster_nodes, cluster_nodes_ready, cluster_nodes_open
//	cluster_pods_pending, cluster_pods_gated
//	pool_resource_{allocatable,requested,free,largest_free}{pool,resource}
//	pool_nodes, pool_nodes_ready, pool_nodes_open{pool}
func (c Count) Select(into *sample.Selection) {
	s := selector{into}
	s.totals("cluster_", nil, &c.Cluster)
	s.number("cluster_pods_pending", nil, c.PendingPods)
	s.number("cluster_pods_gated", nil, c.GatedPods)
	pending := Amounts{}
	pending.add(c.Pending)
	for name := range c.Cluster.Allocatable {
		pending[name] += 0 // nothing asks for it
	}
	s.amounts("cluster_resource_pending", nil, pending)
	for name, pool := range c.Pools {
		s.totals("pool_", map[string]string{poolLabel: name}, pool)
	}
}

type selector struct{ into *sample.Selection }

func (s selector) totals(prefix string, labels map[string]string, t *Totals) {
	s.number(prefix+"nodes", labels, t.Nodes)
	s.number(prefix+"nodes_ready", labels, t.ReadyNodes)
	s.number(prefix+"nodes_open", labels, t.OpenNodes)
	requested := Amounts{}
	requested.add(t.Requested)
	for name := range t.Allocatable {
		requested[name] += 0 // nothing takes of it
	}
	s.amounts(prefix+"resource_allocatable", labels, t.Allocatable)
	s.amounts(prefix+"resource_requested", labels, requested)
	s.amounts(prefix+"resource_free", labels, t.Free)
	s.amounts(prefix+"resource_largest_free", labels, t.LargestFree)
}

func (s selector) amounts(name string, labels map[string]string, all Amounts) {
	for resource, amount := range all {
		of := map[string]string{resourceLabel: string(resource)}
		for label, text := range labels {
			of[label] = text
		}
		s.add(name, of, value(resource, amount), unit(resource))
	}
}

func (s selector) number(name string, labels map[string]string, n int) {
	s.add(name, labels, float64(n), "")
}

func (s selector) add(name string, labels map[string]string, v float64, unit string) {
	if s.into.Wants([]byte(name)) {
		s.into.Add(sample.LabelsOf(labels), v, unit)
	}
}
