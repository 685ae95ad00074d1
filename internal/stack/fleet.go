package stack

import (
	"context"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// fleetSet and fleetNamespace are where the stack's clusters belong and
// where Placements can select them.
const (
	fleetSet       = "default"
	fleetNamespace = "default"
	// fleetWriters is how many clusters are created at a time.
	fleetWriters = 16
)

func clusterName(i int) string { return "spoke-" + strconv.Itoa(i) }

// CreateFleet does on the hub what a cluster's registration does: clusters
// spoke-1, spoke-2 ... in set default, each with its namespace, and the set
// bound in a namespace. What is there already is left as it is.
func CreateFleet(ctx context.Context, admin *rest.Config, spokes int) error {
	ocm, err := clusterclient.NewForConfig(admin)
	if err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	set := &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: fleetSet},
		Spec:       clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel}},
	}
	_, err = ocm.ClusterV1beta2().ManagedClusterSets().Create(ctx, set, metav1.CreateOptions{})
	if err := unlessExists(err); err != nil {
		return fmt.Errorf("cluster set %s: %w", fleetSet, err)
	}
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(fleetWriters)
	for i := range spokes {
		group.Go(func() error { return createCluster(bounded, ocm, core, clusterName(i+1)) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := ensureNamespace(ctx, core, fleetNamespace); err != nil {
		return err
	}
	binding := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Name: fleetSet, Namespace: fleetNamespace},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: fleetSet},
	}
	_, err = ocm.ClusterV1beta2().ManagedClusterSetBindings(fleetNamespace).Create(ctx, binding, metav1.CreateOptions{})
	if err := unlessExists(err); err != nil {
		return fmt.Errorf("binding of cluster set %s in namespace %s: %w", fleetSet, fleetNamespace, err)
	}
	return nil
}

func createCluster(ctx context.Context, ocm clusterclient.Interface, core kubernetes.Interface, name string) error {
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: fleetSet}},
		Spec:       clusterv1.ManagedClusterSpec{HubAcceptsClient: true},
	}
	_, err := ocm.ClusterV1().ManagedClusters().Create(ctx, cluster, metav1.CreateOptions{})
	if err := unlessExists(err); err != nil {
		return fmt.Errorf("cluster %s: %w", name, err)
	}
	return ensureNamespace(ctx, core, name)
}

func ensureNamespace(ctx context.Context, core kubernetes.Interface, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := core.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err := unlessExists(err); err != nil {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	return nil
}

func unlessExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
