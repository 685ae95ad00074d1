package bridge

import (
	"encoding/json"
	"fmt"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// ClusterSet reads a ManagedClusterSet.
func ClusterSet(s *clusterv1beta2.ManagedClusterSet) (*schemas.ClusterSet, error) {
	selector := s.Spec.ClusterSelector
	out := &schemas.ClusterSet{
		Name: s.Name, UID: string(s.UID), SelectorType: string(selector.SelectorType), Deleting: s.DeletionTimestamp != nil,
	}
	if out.SelectorType == "" {
		out.SelectorType = string(clusterv1beta2.ExclusiveClusterSetLabel)
	}
	if selector.LabelSelector != nil {
		raw, err := json.Marshal(selector.LabelSelector)
		if err != nil {
			return nil, fmt.Errorf("ManagedClusterSet %s: spec.clusterSelector.labelSelector: %w", s.Name, err)
		}
		out.LabelSelector = raw
	}
	return out, nil
}

// Binding reads a ManagedClusterSetBinding.
func Binding(b *clusterv1beta2.ManagedClusterSetBinding) *schemas.Binding {
	return &schemas.Binding{
		Name: b.Name, Namespace: b.Namespace, UID: string(b.UID),
		ClusterSet: b.Spec.ClusterSet, Deleting: b.DeletionTimestamp != nil,
	}
}

// Placement reads a Placement, without its status.
func Placement(p *clusterv1beta1.Placement) (*schemas.Placement, error) {
	spec, err := json.Marshal(wholeSpec(p.Spec))
	if err != nil {
		return nil, fmt.Errorf("Placement %s/%s: spec: %w", p.Namespace, p.Name, err)
	}
	return &schemas.Placement{
		Name: p.Name, Namespace: p.Namespace, UID: string(p.UID), Generation: p.Generation,
		Annotations: keep(p.Annotations, domainSpokewire, domainOCM),
		Labels:      p.Labels,
		Direct:      Direct(p),
		Deleting:    p.DeletionTimestamp != nil,
		Spec:        spec,
	}, nil
}

// AddOnScore reads an AddOnPlacementScore of somebody else; nil for one of
// ours, which everybody knows from SW_SCORES.
func AddOnScore(s *clusterv1alpha1.AddOnPlacementScore) *schemas.AddOnScore {
	if Ours(s) {
		return nil
	}
	out := &schemas.AddOnScore{Cluster: s.Namespace, Name: s.Name, UID: string(s.UID), Scores: map[string]int32{}}
	var order []string
	for _, item := range s.Status.Scores {
		out.Scores[item.Name] = item.Value
		order = append(order, item.Name)
	}
	if !slices.IsSorted(order) {
		out.Order = order
	}
	if s.Status.ValidUntil != nil {
		until := s.Status.ValidUntil.UTC()
		out.ValidUntil = &until
	}
	return out
}
