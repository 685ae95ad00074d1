// Package consumer is a program as SIG-Multicluster has it in mind: it knows
// PlacementDecisions and ClusterProfiles, and neither OCM nor Spokewire, of
// which it imports package access alone.
package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/spokewire/spokewire/pkg/access"
)

// ForEach calls use with each cluster that is decided for a key: its name and
// how to reach it. A cluster that cannot be reached does not keep the others
// from being used.
func ForEach(ctx context.Context, hub *rest.Config, namespace, key string, use func(name string, cluster *rest.Config) error) error {
	core, err := kubernetes.NewForConfig(hub)
	if err != nil {
		return err
	}
	multicluster, err := sigclient.NewForConfig(hub)
	if err != nil {
		return err
	}
	api := multicluster.ApisV1alpha1()
	slices, err := api.PlacementDecisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: sig.DecisionKeyLabel + "=" + key})
	if err != nil {
		return err
	}
	var errs []error
	for _, slice := range slices.Items {
		for _, d := range slice.Decisions {
			ref := d.ClusterProfileRef
			profile, err := api.ClusterProfiles(cmp.Or(ref.Namespace, namespace)).Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				errs = append(errs, err)
				continue
			}
			cluster, err := access.RestConfig(ctx, core.CoreV1(), profile, access.Options{})
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if err := use(ref.Name, cluster); err != nil {
				errs = append(errs, fmt.Errorf("cluster %s: %w", ref.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}
