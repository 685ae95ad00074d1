package kube

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"
	siginformers "sigs.k8s.io/cluster-inventory-api/client/informers/externalversions/apis/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// SIG says which of SIG-Multicluster's resources are read and written.
type SIG struct {
	// Slices are its PlacementDecisions, Profiles the ClusterProfiles of
	// ManagedClusters.
	Slices, Profiles bool
	// Source is the namespace whose ClusterProfiles are clusters, "" for
	// none. Set is the ManagedClusterSet of those that name none.
	Source, Set string
}

// Any reports whether anything is asked for.
func (s SIG) Any() bool { return s.Slices || s.Profiles || s.Source != "" }

// Kinds of SIG-Multicluster's resources, in a Change and in the metrics.
const (
	KindSlice   = events.KindSlice
	KindProfile = "clusterprofile"
	kindSource  = "inventory" // told as events.KindCluster
)

// byManager indexes ClusterProfiles by the name of their cluster manager.
const byManager = "manager"

// inventory is the part of a Hub that reads and writes SIG-Multicluster's
// resources.
type inventory struct {
	sig      SIG
	write    sigclient.Interface
	slices   *overlay[*sig.PlacementDecision]
	profiles *overlay[*sig.ClusterProfile]
}

// newInventory adds to informers what s asks for.
func newInventory(config *rest.Config, s SIG, informers map[string]cache.SharedIndexInformer) (inventory, error) {
	v := inventory{
		sig:      s,
		slices:   newOverlay(pageGroup[*sig.PlacementDecision], time.Now),
		profiles: newOverlay(func(p *sig.ClusterProfile) string { return p.Namespace }, time.Now),
	}
	if !s.Any() {
		return v, nil
	}
	read, err := sigclient.NewForConfig(config)
	if err != nil {
		return v, fmt.Errorf("hub client of SIG-Multicluster's resources: %w", err)
	}
	if v.write, err = sigclient.NewForConfig(config); err != nil {
		return v, fmt.Errorf("hub client of SIG-Multicluster's resources: %w", err)
	}
	if s.Slices {
		informers[KindSlice] = siginformers.NewPlacementDecisionInformer(read, metav1.NamespaceAll, resync, cache.Indexers{byPlacement: placementKeys})
	}
	if s.Profiles {
		informers[KindProfile] = siginformers.NewClusterProfileInformer(read, metav1.NamespaceAll, resync,
			cache.Indexers{byManager: managerKeys, cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	if s.Source != "" {
		informers[kindSource] = siginformers.NewClusterProfileInformer(read, s.Source, resync, cache.Indexers{})
	}
	for _, kind := range []string{KindSlice, KindProfile, kindSource} {
		if informer, ok := informers[kind]; ok {
			if err := informer.SetTransform(slim); err != nil {
				return v, fmt.Errorf("hub informer of %s: %w", kind, err)
			}
		}
	}
	return v, nil
}

func managerKeys(o any) ([]string, error) {
	p, ok := o.(*sig.ClusterProfile)
	if !ok {
		return nil, fmt.Errorf("a %T among the ClusterProfiles", o)
	}
	return []string{p.Spec.ClusterManager.Name}, nil
}

func (v *inventory) see(object any, deleted bool) {
	switch o := object.(type) {
	case *sig.PlacementDecision:
		v.slices.observe(o, deleted)
	case *sig.ClusterProfile:
		v.profiles.observe(o, deleted)
	}
}

func (v *inventory) sweep() {
	v.slices.sweep()
	v.profiles.sweep()
}

// profiled is the ClusterProfile of the inventory that is the cluster of that
// name, nil for none.
func (h *Hub) profiled(name string) *sig.ClusterProfile {
	p, ok := cached[*sig.ClusterProfile](h, kindSource, h.inventory.sig.Source, name)
	if !ok || bridge.Copied(p) {
		return nil
	}
	return p
}

func (h *Hub) profiledCluster(name string) *schemas.Cluster {
	if p := h.profiled(name); p != nil {
		return bridge.ProfiledCluster(p, h.inventory.sig.Set)
	}
	return nil
}

// ProfileOf names the ClusterProfile of a cluster that a Placement in
// namespace selects: that of the inventory where there is no ManagedCluster,
// else the one beside the Placement, which OCM's copier or the bridge keeps.
func (h *Hub) ProfileOf(namespace, cluster string) sig.ClusterProfileReference {
	if !h.HasCluster(cluster) && h.profiled(cluster) != nil {
		namespace = h.inventory.sig.Source
	}
	return sig.ClusterProfileReference{Namespace: namespace, Name: cluster}
}

// Slices returns the newest known state of the slices around a Placement.
func (h *Hub) Slices(namespace, placement string) []*sig.PlacementDecision {
	key := groupKey(namespace, placement)
	return h.inventory.slices.latest(key, indexed[*sig.PlacementDecision](h, KindSlice, byPlacement, key))
}

// Profiles returns the newest known state of a namespace's ClusterProfiles.
func (h *Hub) Profiles(namespace string) []*sig.ClusterProfile {
	return h.inventory.profiles.latest(namespace, indexed[*sig.ClusterProfile](h, KindProfile, cache.NamespaceIndex, namespace))
}

// ManagedBy returns the ClusterProfiles of a cluster manager.
func (h *Hub) ManagedBy(manager string) []*sig.ClusterProfile {
	return indexed[*sig.ClusterProfile](h, KindProfile, byManager, manager)
}

func indexed[T any](h *Hub, kind, index, key string) []T {
	objects, err := h.informers[kind].GetIndexer().ByIndex(index, key)
	if err != nil {
		return nil // the index exists
	}
	return all[T](objects)
}

func all[T any](objects []any) []T {
	out := make([]T, 0, len(objects))
	for _, o := range objects {
		if t, ok := o.(T); ok {
			out = append(out, t)
		}
	}
	return out
}

// Clusters returns the ManagedClusters.
func (h *Hub) Clusters() []*clusterv1.ManagedCluster {
	return all[*clusterv1.ManagedCluster](h.informers[events.KindCluster].GetStore().List())
}

// ClusterSet returns a ManagedClusterSet, nil for none.
func (h *Hub) ClusterSet(name string) *clusterv1beta2.ManagedClusterSet {
	s, _ := cached[*clusterv1beta2.ManagedClusterSet](h, events.KindClusterSet, "", name)
	return s
}

// Bindings returns the ManagedClusterSetBindings, by namespace.
func (h *Hub) Bindings() map[string][]*clusterv1beta2.ManagedClusterSetBinding {
	out := map[string][]*clusterv1beta2.ManagedClusterSetBinding{}
	for _, b := range all[*clusterv1beta2.ManagedClusterSetBinding](h.informers[events.KindBinding].GetStore().List()) {
		out[b.Namespace] = append(out[b.Namespace], b)
	}
	return out
}
