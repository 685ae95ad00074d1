package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// CreateSlice creates a slice. What it creates keeps managed fields: ending
// that would cost the write that makes readers see it twice.
func (h *Hub) CreateSlice(ctx context.Context, s *sig.PlacementDecision) (*sig.PlacementDecision, error) {
	return write(ctx, h, h.inventory.slices, KindSlice, verbCreate, s, func(ctx context.Context) (*sig.PlacementDecision, error) {
		return h.inventory.write.ApisV1alpha1().PlacementDecisions(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
	})
}

// UpdateSlice writes a slice.
func (h *Hub) UpdateSlice(ctx context.Context, s *sig.PlacementDecision) (*sig.PlacementDecision, error) {
	return write(ctx, h, h.inventory.slices, KindSlice, verbUpdate, s, func(ctx context.Context) (*sig.PlacementDecision, error) {
		return h.inventory.write.ApisV1alpha1().PlacementDecisions(s.Namespace).Update(ctx, untracked(s), metav1.UpdateOptions{})
	})
}

// DeleteSlice deletes a slice.
func (h *Hub) DeleteSlice(ctx context.Context, s *sig.PlacementDecision) error {
	return remove(ctx, h, h.inventory.slices, KindSlice, s, h.inventory.write.ApisV1alpha1().PlacementDecisions(s.Namespace).Delete)
}

// CreateProfile creates a ClusterProfile; its status is not taken.
func (h *Hub) CreateProfile(ctx context.Context, p *sig.ClusterProfile) (*sig.ClusterProfile, error) {
	return write(ctx, h, h.inventory.profiles, KindProfile, verbCreate, p, func(ctx context.Context) (*sig.ClusterProfile, error) {
		return h.inventory.write.ApisV1alpha1().ClusterProfiles(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
	})
}

// UpdateProfile writes the metadata of a ClusterProfile.
func (h *Hub) UpdateProfile(ctx context.Context, p *sig.ClusterProfile) (*sig.ClusterProfile, error) {
	return write(ctx, h, h.inventory.profiles, KindProfile, verbUpdate, p, func(ctx context.Context) (*sig.ClusterProfile, error) {
		return h.inventory.write.ApisV1alpha1().ClusterProfiles(p.Namespace).Update(ctx, p, metav1.UpdateOptions{})
	})
}

// UpdateProfileStatus writes the status of a ClusterProfile.
func (h *Hub) UpdateProfileStatus(ctx context.Context, p *sig.ClusterProfile) (*sig.ClusterProfile, error) {
	return write(ctx, h, h.inventory.profiles, KindProfile, verbStatus, p, func(ctx context.Context) (*sig.ClusterProfile, error) {
		return h.inventory.write.ApisV1alpha1().ClusterProfiles(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
	})
}

// DeleteProfile deletes a ClusterProfile.
func (h *Hub) DeleteProfile(ctx context.Context, p *sig.ClusterProfile) error {
	return remove(ctx, h, h.inventory.profiles, KindProfile, p, h.inventory.write.ApisV1alpha1().ClusterProfiles(p.Namespace).Delete)
}
