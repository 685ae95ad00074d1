package kube

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/events"
)

// callTimeout bounds one call of the API server.
const callTimeout = 10 * time.Second

// Verbs, as they stand in the metrics.
const (
	verbCreate = "create"
	verbUpdate = "update"
	verbStatus = "update-status"
	verbDelete = "delete"
)

// write makes one call and takes note of its result.
func write[T metav1.Object](ctx context.Context, h *Hub, o *overlay[T], kind, verb string, object T, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	start := time.Now()
	written, err := call(ctx)
	h.metrics.wrote(kind, verb, start, err)
	if err != nil {
		return object, fmt.Errorf("%s %s %s/%s: %w", verb, kind, object.GetNamespace(), object.GetName(), err)
	}
	o.put(written)
	return written, nil
}

// remove deletes object if it still is what it was when it was read. One
// that is gone already is no error.
func remove[T metav1.Object](ctx context.Context, h *Hub, o *overlay[T], kind string, object T, call func(context.Context, string, metav1.DeleteOptions) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	uid, version := object.GetUID(), object.GetResourceVersion()
	start := time.Now()
	err := call(ctx, object.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	h.metrics.wrote(kind, verbDelete, start, err)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s/%s: %w", kind, object.GetNamespace(), object.GetName(), err)
	}
	o.gone(object, version)
	return nil
}

// untracked returns a copy of object that, written by an update, ends the
// tracking of who manages which field: from then on a write costs the API
// server half. Creating it so does not, only an update. Server-side apply by
// somebody else begins it anew.
func untracked[T interface {
	metav1.Object
	DeepCopy() T
}](object T) T {
	out := object.DeepCopy()
	out.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
	return out
}

// CreatePage creates a PlacementDecision without managed fields; its status
// is not taken.
func (h *Hub) CreatePage(ctx context.Context, page *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error) {
	created, err := write(ctx, h, h.pages, events.KindPlacementDecision, verbCreate, page, func(ctx context.Context) (*clusterv1beta1.PlacementDecision, error) {
		return h.write.ClusterV1beta1().PlacementDecisions(page.Namespace).Create(ctx, page, metav1.CreateOptions{})
	})
	if err != nil {
		return page, err
	}
	return h.UpdatePage(ctx, created)
}

// UpdatePage writes the metadata of a PlacementDecision. It keeps no managed
// fields.
func (h *Hub) UpdatePage(ctx context.Context, page *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error) {
	return write(ctx, h, h.pages, events.KindPlacementDecision, verbUpdate, page, func(ctx context.Context) (*clusterv1beta1.PlacementDecision, error) {
		return h.write.ClusterV1beta1().PlacementDecisions(page.Namespace).Update(ctx, untracked(page), metav1.UpdateOptions{})
	})
}

// UpdatePageStatus writes the decisions of a PlacementDecision.
func (h *Hub) UpdatePageStatus(ctx context.Context, page *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error) {
	return write(ctx, h, h.pages, events.KindPlacementDecision, verbStatus, page, func(ctx context.Context) (*clusterv1beta1.PlacementDecision, error) {
		return h.write.ClusterV1beta1().PlacementDecisions(page.Namespace).UpdateStatus(ctx, page, metav1.UpdateOptions{})
	})
}

// DeletePage deletes a PlacementDecision.
func (h *Hub) DeletePage(ctx context.Context, page *clusterv1beta1.PlacementDecision) error {
	return remove(ctx, h, h.pages, events.KindPlacementDecision, page, h.write.ClusterV1beta1().PlacementDecisions(page.Namespace).Delete)
}

// CreateScore creates an AddOnPlacementScore without managed fields; its
// status is not taken.
func (h *Hub) CreateScore(ctx context.Context, s *clusterv1alpha1.AddOnPlacementScore) (*clusterv1alpha1.AddOnPlacementScore, error) {
	created, err := write(ctx, h, h.scores, events.KindAddOnScore, verbCreate, s, func(ctx context.Context) (*clusterv1alpha1.AddOnPlacementScore, error) {
		return h.write.ClusterV1alpha1().AddOnPlacementScores(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
	})
	if err != nil {
		return s, err
	}
	return write(ctx, h, h.scores, events.KindAddOnScore, verbUpdate, created, func(ctx context.Context) (*clusterv1alpha1.AddOnPlacementScore, error) {
		return h.write.ClusterV1alpha1().AddOnPlacementScores(s.Namespace).Update(ctx, untracked(created), metav1.UpdateOptions{})
	})
}

// UpdateScoreStatus writes the scores of an AddOnPlacementScore.
func (h *Hub) UpdateScoreStatus(ctx context.Context, s *clusterv1alpha1.AddOnPlacementScore) (*clusterv1alpha1.AddOnPlacementScore, error) {
	return write(ctx, h, h.scores, events.KindAddOnScore, verbStatus, s, func(ctx context.Context) (*clusterv1alpha1.AddOnPlacementScore, error) {
		return h.write.ClusterV1alpha1().AddOnPlacementScores(s.Namespace).UpdateStatus(ctx, s, metav1.UpdateOptions{})
	})
}

// DeleteScore deletes an AddOnPlacementScore.
func (h *Hub) DeleteScore(ctx context.Context, s *clusterv1alpha1.AddOnPlacementScore) error {
	return remove(ctx, h, h.scores, events.KindAddOnScore, s, h.write.ClusterV1alpha1().AddOnPlacementScores(s.Namespace).Delete)
}
