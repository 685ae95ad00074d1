package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
)

const (
	// rolloutPage bounds how many ManifestWorks are in memory at a time.
	rolloutPage = 50
	// fewClusters are asked for one by one: the API server looks through all
	// ManifestWorks of the hub for the label otherwise.
	fewClusters = 8
)

// Rollouts reads from the hub how far the ManifestWorkReplicaSets of a
// Placement have come on clusters, and perhaps on others. A hub without
// ManifestWorks has none.
func (h *Hub) Rollouts(ctx context.Context, namespace, placement string, clusters []string) ([]bridge.Rollout, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if len(clusters) > fewClusters {
		clusters = []string{metav1.NamespaceAll}
	}
	var out []bridge.Rollout
	for _, cluster := range clusters {
		found, err := h.rolloutsOn(ctx, cluster, namespace, placement)
		if err != nil {
			return nil, fmt.Errorf("list the manifestworks of placement %s/%s: %w", namespace, placement, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

func (h *Hub) rolloutsOn(ctx context.Context, cluster, namespace, placement string) ([]bridge.Rollout, error) {
	var out []bridge.Rollout
	list := metav1.ListOptions{
		LabelSelector: workv1alpha1.ManifestWorkReplicaSetPlacementNameLabelKey + "=" + placement,
		Limit:         rolloutPage,
	}
	for {
		works, err := h.works.WorkV1().ManifestWorks(cluster).List(ctx, list)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range works.Items {
			if r, ok := bridge.RolloutOf(&works.Items[i], namespace); ok {
				out = append(out, r)
			}
		}
		if list.Continue = works.Continue; list.Continue == "" {
			return out, nil
		}
	}
}

// KeepsCluster reports whether the hub has the cluster and does not delete
// it.
func (h *Hub) KeepsCluster(name string) bool {
	if c, ok := cached[*clusterv1.ManagedCluster](h, events.KindCluster, "", name); ok {
		return c.DeletionTimestamp == nil
	}
	p := h.profiled(name)
	return p != nil && p.DeletionTimestamp == nil
}
