package expression

import (
	"maps"
	"slices"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Cluster is a ManagedCluster as expressions see it. It is made for a few
// evaluations, not to be kept.
type Cluster struct{ value traits.Mapper }

// NewCluster makes the ManagedCluster of c, with the fields that an object
// has on the hub. Its lists of claims and conditions are by name.
func NewCluster(c *schemas.Cluster) *Cluster {
	return &Cluster{types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{
		"metadata": metadata(c), "spec": spec(c), "status": status(c),
	})}
}

func metadata(c *schemas.Cluster) map[string]any {
	out := map[string]any{"name": c.Name, "uid": c.UID}
	if !c.CreatedAt.IsZero() {
		out["creationTimestamp"] = timestamp(c.CreatedAt)
	}
	if len(c.Labels) > 0 {
		out["labels"] = c.Labels
	}
	switch {
	case len(c.Omitted) > 0:
		out["annotations"] = annotations(c)
	case len(c.Annotations) > 0:
		out["annotations"] = c.Annotations
	}
	return out
}

// annotations are with an error for each value that is not known.
func annotations(c *schemas.Cluster) map[string]any {
	out := map[string]any{}
	for name, value := range c.Annotations {
		out[name] = value
	}
	for _, name := range c.Omitted {
		out[name] = types.NewErr("annotation %s is too long for Spokewire to carry", name)
	}
	return out
}

func spec(c *schemas.Cluster) map[string]any {
	out := map[string]any{"hubAcceptsClient": c.Accepted}
	if c.LeaseSeconds != 0 {
		out["leaseDurationSeconds"] = int64(c.LeaseSeconds)
	}
	if len(c.URLs) > 0 {
		configs := make([]any, len(c.URLs))
		for i, url := range c.URLs {
			configs[i] = map[string]any{"url": url}
		}
		out["managedClusterClientConfigs"] = configs
	}
	if len(c.Taints) > 0 {
		taints := make([]any, len(c.Taints))
		for i, t := range c.Taints {
			taints[i] = taint(t)
		}
		out["taints"] = taints
	}
	return out
}

func taint(t schemas.Taint) map[string]any {
	out := map[string]any{"key": t.Key, "effect": t.Effect, "timeAdded": timestamp(t.TimeAdded)}
	if t.Value != "" {
		out["value"] = t.Value
	}
	return out
}

func status(c *schemas.Cluster) map[string]any {
	version := map[string]any{}
	if c.Version != "" {
		version["kubernetes"] = c.Version
	}
	out := map[string]any{"version": version, "conditions": conditions(c)}
	if len(c.Allocatable) > 0 {
		out["allocatable"] = c.Allocatable
	}
	if len(c.Capacity) > 0 {
		out["capacity"] = c.Capacity
	}
	if len(c.Claims) > 0 {
		claims := make([]any, 0, len(c.Claims))
		for _, name := range slices.Sorted(maps.Keys(c.Claims)) {
			claims = append(claims, claim(name, c.Claims[name]))
		}
		out["clusterClaims"] = claims
	}
	return out
}

func claim(name, value string) map[string]any {
	out := map[string]any{"name": name}
	if value != "" {
		out["value"] = value
	}
	return out
}

func conditions(c *schemas.Cluster) []any {
	out := make([]any, 0, len(c.Conditions))
	for _, kind := range slices.Sorted(maps.Keys(c.Conditions)) {
		out = append(out, map[string]any{"type": kind, "status": c.Conditions[kind], "reason": c.ConditionReasons[kind]})
	}
	return out
}

// timestamp is t as JSON has it, null for no time.
func timestamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}
