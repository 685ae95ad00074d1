package placement

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// cluster is a schemas.Cluster as decisions read it.
type cluster struct {
	source *schemas.Cluster
	labels labels.Set
	claims labels.Set
	// allocatable is by resourceKind, NaN where the cluster does not say both
	// what is allocatable and what its capacity is.
	allocatable [resourceKinds]float64
}

func newCluster(c *schemas.Cluster) *cluster {
	out := &cluster{source: c, labels: labels.Set(c.Labels), claims: labels.Set(c.Claims)}
	for kind, name := range resourceNames {
		out.allocatable[kind] = allocatable(c, name)
	}
	return out
}

func allocatable(c *schemas.Cluster, name string) float64 {
	value, err := resource.ParseQuantity(c.Allocatable[name])
	if err != nil {
		return math.NaN()
	}
	if _, err := resource.ParseQuantity(c.Capacity[name]); err != nil {
		return math.NaN()
	}
	return value.AsApproximateFloat64()
}
