package kube

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
)

// resync is after how long every object is looked at again though nothing
// happened to it: a net under the whole.
const resync = 10 * time.Minute

// byPlacement indexes PlacementDecisions by the Placements that they may
// belong to.
const byPlacement = "placement"

func newInformers(client clusterclient.Interface) (map[string]cache.SharedIndexInformer, error) {
	factory := clusterinformers.NewSharedInformerFactoryWithOptions(client, resync, clusterinformers.WithTransform(slim)).Cluster()
	informers := map[string]cache.SharedIndexInformer{
		events.KindCluster:           factory.V1().ManagedClusters().Informer(),
		events.KindClusterSet:        factory.V1beta2().ManagedClusterSets().Informer(),
		events.KindBinding:           factory.V1beta2().ManagedClusterSetBindings().Informer(),
		events.KindPlacement:         factory.V1beta1().Placements().Informer(),
		events.KindPlacementDecision: factory.V1beta1().PlacementDecisions().Informer(),
		events.KindAddOnScore:        factory.V1alpha1().AddOnPlacementScores().Informer(),
	}
	err := informers[events.KindPlacementDecision].AddIndexers(cache.Indexers{byPlacement: placementKeys})
	if err != nil {
		return nil, fmt.Errorf("hub informer of %s: %w", events.KindPlacementDecision, err)
	}
	return informers, nil
}

func placementKeys(o any) ([]string, error) {
	page, ok := o.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("a %T among the PlacementDecisions", o)
	}
	var keys []string
	for _, name := range placementsOf(page) {
		keys = append(keys, groupKey(page.GetNamespace(), name))
	}
	return keys, nil
}

// slim drops what no part of the bridge reads and what makes up half of the
// memory of a cache.
func slim(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// placementsOf names the Placements that page, or a slice, matters to: the
// one that its label names, and the one that its name is taken from, for the
// name is then in use.
func placementsOf(page metav1.Object) []string {
	labels := page.GetLabels()
	candidates := []string{labels[clusterv1beta1.PlacementLabel], bridge.PlacementOfName(page.GetName())}
	if _, slice := page.(*sig.PlacementDecision); slice {
		placement, _ := bridge.PlacementOfSlice(page.GetName())
		candidates = []string{labels[sig.PlacementKeyLabel], labels[sig.DecisionKeyLabel], placement}
	}
	var names []string
	for _, name := range candidates {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// pageGroup is where the overlay keeps page.
func pageGroup[T metav1.Object](page T) string {
	names := placementsOf(page)
	if len(names) == 0 {
		return groupKey(page.GetNamespace(), "")
	}
	return groupKey(page.GetNamespace(), names[0])
}
