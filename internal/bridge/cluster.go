package bridge

import (
	"maps"
	"slices"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bounds of the annotations that a Cluster carries for CEL selectors, in
// bytes: of one value, of all names and values, and of the names of those
// that are left out.
const (
	maxAnnotation  = 2 << 10
	maxAnnotations = 8 << 10
	maxOmitted     = 4 << 10
)

// lastApplied repeats the object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Cluster reads a ManagedCluster: what a decision can depend on. What changes
// with every write or heartbeat (versions, the times and messages of
// conditions) is left out.
func Cluster(c *clusterv1.ManagedCluster) *schemas.Cluster {
	out := &schemas.Cluster{
		Name:         c.Name,
		UID:          string(c.UID),
		Labels:       c.Labels,
		Accepted:     c.Spec.HubAcceptsClient,
		LeaseSeconds: c.Spec.LeaseDurationSeconds,
		Version:      c.Status.Version.Kubernetes,
		Allocatable:  quantities(c.Status.Allocatable),
		Capacity:     quantities(c.Status.Capacity),
		Deleting:     c.DeletionTimestamp != nil,
	}
	if !c.CreationTimestamp.IsZero() {
		out.CreatedAt = c.CreationTimestamp.UTC()
	}
	out.Annotations, out.Omitted = annotations(c.Annotations)
	for _, claim := range c.Status.ClusterClaims {
		out.Claims = with(out.Claims, claim.Name, claim.Value)
	}
	for _, condition := range c.Status.Conditions {
		out.Conditions = with(out.Conditions, condition.Type, string(condition.Status))
		out.ConditionReasons = with(out.ConditionReasons, condition.Type, condition.Reason)
	}
	for _, config := range c.Spec.ManagedClusterClientConfigs {
		out.URLs = append(out.URLs, config.URL)
	}
	for _, t := range c.Spec.Taints {
		out.Taints = append(out.Taints, schemas.Taint{
			Key: t.Key, Value: t.Value, Effect: string(t.Effect), TimeAdded: t.TimeAdded.UTC(),
		})
	}
	return out
}

// annotations keeps all of ours, and of the others what the bounds allow, by
// name; it names those that they do not.
func annotations(all map[string]string) (kept map[string]string, omitted []string) {
	kept = keep(all, domainSpokewire)
	left, leftNames := maxAnnotations, maxOmitted
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := all[name]
		size := len(name) + len(value)
		switch {
		case keptKey(name, domainSpokewire), name == lastApplied:
		case len(value) <= maxAnnotation && size <= left:
			kept = with(kept, name, value)
			left -= size
		case len(name) <= leftNames:
			omitted = append(omitted, name)
			leftNames -= len(name)
		}
	}
	return kept, omitted
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func quantities(list clusterv1.ResourceList) map[string]string {
	var out map[string]string
	for name, quantity := range list {
		out = with(out, string(name), quantity.String())
	}
	return out
}
