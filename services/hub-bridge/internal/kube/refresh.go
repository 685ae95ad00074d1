package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/pkg/events"
)

// RefreshPlacement reads a Placement from the API server, past the cache.
func (h *Hub) RefreshPlacement(ctx context.Context, namespace, name string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p, err := h.write.ClusterV1beta1().Placements(namespace).Get(ctx, name, metav1.GetOptions{})
	return refreshed(h.placements, h.Placement(namespace, name), p, err, events.KindPlacement, namespace, name)
}

// RefreshScore reads an AddOnPlacementScore from the API server.
func (h *Hub) RefreshScore(ctx context.Context, cluster, name string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s, err := h.write.ClusterV1alpha1().AddOnPlacementScores(cluster).Get(ctx, name, metav1.GetOptions{})
	return refreshed(h.scores, h.Score(cluster, name), s, err, events.KindAddOnScore, cluster, name)
}

func refreshed[T interface {
	comparable
	metav1.Object
}](o *overlay[T], known, now T, err error, kind, namespace, name string) error {
	var none T
	switch {
	case err == nil:
		o.put(now)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read %s %s/%s: %w", kind, namespace, name, err)
	case known != none:
		o.gone(known, known.GetResourceVersion())
	}
	return nil
}

// RefreshPages reads the PlacementDecisions around a Placement from the API
// server: those of its label, and those whose names it may want.
func (h *Hub) RefreshPages(ctx context.Context, namespace, placement string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := h.write.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("read the PlacementDecisions of %s/%s: %w", namespace, placement, err)
	}
	there := map[string]bool{}
	for i := range list.Items {
		page := &list.Items[i]
		for _, name := range placementsOf(page) {
			if name == placement {
				there[page.Name] = true
				h.pages.put(page)
			}
		}
	}
	for _, page := range h.Pages(namespace, placement) {
		if !there[page.Name] {
			h.pages.gone(page, page.GetResourceVersion())
		}
	}
	return nil
}
