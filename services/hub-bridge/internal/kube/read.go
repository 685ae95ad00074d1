package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Observed is what there is to say of the object of a kind: as the caches
// have it, without own writes that the hub has not confirmed by its watch.
// It is nil where the hub has no such object, or one that is not spoken of.
func (h *Hub) Observed(kind, namespace, name string) (schemas.Payload, error) {
	if kind == events.KindPlacementDecision {
		p, ok := cached[*clusterv1beta1.Placement](h, events.KindPlacement, namespace, name)
		if !ok {
			return nil, nil
		}
		return orNil(bridge.ObservedDecision(p, h.cachedPages(namespace, name))), nil
	}
	if _, scoring := scoringKinds[kind]; scoring {
		return h.scoring.observed(kind, namespace, name)
	}
	o, ok := cached[any](h, kind, namespace, name)
	if !ok && kind == events.KindCluster {
		return orNil(h.profiledCluster(name)), nil
	}
	if !ok {
		return nil, nil
	}
	switch o := o.(type) {
	case *clusterv1.ManagedCluster:
		return bridge.Cluster(o), nil
	case *clusterv1beta2.ManagedClusterSet:
		return bridge.ClusterSet(o)
	case *clusterv1beta2.ManagedClusterSetBinding:
		return bridge.Binding(o), nil
	case *clusterv1beta1.Placement:
		return bridge.Placement(o)
	case *clusterv1alpha1.AddOnPlacementScore:
		return orNil(bridge.AddOnScore(o)), nil
	}
	return nil, nil
}

// orNil makes a nil pointer a nil payload.
func orNil[T any, P interface {
	*T
	schemas.Payload
}](p P) schemas.Payload {
	if p == nil {
		return nil
	}
	return p
}

// NativeState is a Placement and its PlacementDecisions as the caches have
// them; nil where the hub has no such Placement.
func (h *Hub) NativeState(namespace, name string) (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision) {
	p, _ := cached[*clusterv1beta1.Placement](h, events.KindPlacement, namespace, name)
	return p, h.cachedPages(namespace, name)
}

// Placement returns the newest known state of a Placement, nil for none.
func (h *Hub) Placement(namespace, name string) *clusterv1beta1.Placement {
	return latest(h, events.KindPlacement, h.placements, namespace, name)
}

// Pages returns the newest known state of the PlacementDecisions around a
// Placement.
func (h *Hub) Pages(namespace, placement string) []*clusterv1beta1.PlacementDecision {
	return h.pages.latest(groupKey(namespace, placement), h.cachedPages(namespace, placement))
}

// Score returns the newest known state of an AddOnPlacementScore, nil for
// none.
func (h *Hub) Score(cluster, name string) *clusterv1alpha1.AddOnPlacementScore {
	return latest(h, events.KindAddOnScore, h.scores, cluster, name)
}

// HasCluster reports whether the hub has the ManagedCluster.
func (h *Hub) HasCluster(name string) bool {
	_, ok := cached[*clusterv1.ManagedCluster](h, events.KindCluster, "", name)
	return ok
}

// Names lists what the caches hold of a kind, as changes.
func (h *Hub) Names(kind string) []Change {
	if _, scoring := scoringKinds[kind]; scoring {
		return h.scoring.names(kind)
	}
	var out []Change
	for from, informer := range h.informers {
		if from != kind && (from != kindSource || kind != events.KindCluster) {
			continue
		}
		for _, o := range informer.GetStore().List() {
			out = append(out, changes(from, o, false)...)
		}
	}
	return out
}

func (h *Hub) cachedPages(namespace, placement string) []*clusterv1beta1.PlacementDecision {
	objects, err := h.informers[events.KindPlacementDecision].GetIndexer().ByIndex(byPlacement, groupKey(namespace, placement))
	if err != nil {
		return nil // the index exists
	}
	pages := make([]*clusterv1beta1.PlacementDecision, 0, len(objects))
	for _, o := range objects {
		if page, ok := o.(*clusterv1beta1.PlacementDecision); ok {
			pages = append(pages, page)
		}
	}
	return pages
}

func cached[T any](h *Hub, kind, namespace, name string) (T, bool) {
	var none T
	informer, known := h.informers[kind]
	if !known {
		return none, false
	}
	key := name
	if namespace != "" {
		key = groupKey(namespace, name)
	}
	o, ok, err := informer.GetStore().GetByKey(key)
	if err != nil || !ok {
		return none, false
	}
	t, ok := o.(T)
	return t, ok
}

// latest is the newer of cache and overlay.
func latest[T interface {
	comparable
	metav1.Object
}](h *Hub, kind string, o *overlay[T], namespace, name string) T {
	var none T
	var known []T
	if t, ok := cached[T](h, kind, namespace, name); ok {
		known = []T{t}
	}
	if known = o.latest(groupKey(namespace, name), known); len(known) == 0 {
		return none
	}
	return known[0]
}
