package twin

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/difftest"
)

// fleetWriters is how many fleets are written at a time.
const fleetWriters = 8

// createShared makes the sets that fleets share, where the hub has none of
// that name.
func createShared(ctx context.Context, hub Hub) error {
	var errs []error
	for _, s := range difftest.SharedSets() {
		if err := created(hub.OCM.ClusterV1beta2().ManagedClusterSets().Create(ctx, s, metav1.CreateOptions{})); !apierrors.IsAlreadyExists(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// eachFleet writes fleets concurrently.
func eachFleet(ctx context.Context, fleets []difftest.Fleet, write func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(fleetWriters)
	for i := range fleets {
		g.Go(func() error {
			if err := write(ctx, i); err != nil {
				return fmt.Errorf("fleet %s: %w", fleets[i].Name, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// createFleet creates the Placements and their twins last.
func createFleet(ctx context.Context, hub Hub, f *difftest.Fleet) error {
	var errs []error
	for _, namespace := range f.Namespaces {
		errs = append(errs, CreateNamespace(ctx, hub, namespace))
	}
	for _, s := range f.Sets {
		errs = append(errs, created(hub.OCM.ClusterV1beta2().ManagedClusterSets().Create(ctx, s, metav1.CreateOptions{})))
	}
	for _, b := range f.Bindings {
		errs = append(errs, createBinding(ctx, hub, b))
	}
	for _, c := range f.Clusters {
		errs = append(errs, CreateCluster(ctx, hub, c))
	}
	for _, s := range f.Scores {
		errs = append(errs, createScore(ctx, hub, s))
	}
	for _, p := range f.Placements {
		for _, p := range []*clusterv1beta1.Placement{p, difftest.Direct(p)} {
			errs = append(errs, created(hub.OCM.ClusterV1beta1().Placements(p.Namespace).Create(ctx, p, metav1.CreateOptions{})))
		}
	}
	return errors.Join(errs...)
}

// created drops the object that a client returns.
func created[T any](_ T, err error) error { return err }

// CreateNamespace creates a namespace.
func CreateNamespace(ctx context.Context, hub Hub, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return created(hub.Core.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}))
}

func createBinding(ctx context.Context, hub Hub, b *clusterv1beta2.ManagedClusterSetBinding) error {
	return created(hub.OCM.ClusterV1beta2().ManagedClusterSetBindings(b.Namespace).Create(ctx, b, metav1.CreateOptions{}))
}

// CreateCluster creates a cluster with its namespace and its status. The
// finalizer of one that is to be deleted keeps it in deletion.
func CreateCluster(ctx context.Context, hub Hub, c *clusterv1.ManagedCluster) error {
	if err := CreateNamespace(ctx, hub, c.Name); err != nil {
		return err
	}
	clusters := hub.OCM.ClusterV1().ManagedClusters()
	stored, err := clusters.Create(ctx, c, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stored.Status = c.Status
	if _, err := clusters.UpdateStatus(ctx, stored, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if c.DeletionTimestamp == nil {
		return nil
	}
	return clusters.Delete(ctx, c.Name, metav1.DeleteOptions{})
}

func createScore(ctx context.Context, hub Hub, s *clusterv1alpha1.AddOnPlacementScore) error {
	scores := hub.OCM.ClusterV1alpha1().AddOnPlacementScores(s.Namespace)
	stored, err := scores.Create(ctx, s, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stored.Status = s.Status
	return created(scores.UpdateStatus(ctx, stored, metav1.UpdateOptions{}))
}

// changeFleet writes what differs between before and after.
func changeFleet(ctx context.Context, hub Hub, before, after *difftest.Fleet) error {
	return errors.Join(
		reconcile(before.Sets, after.Sets, changes[*clusterv1beta2.ManagedClusterSet]{update: func(s *clusterv1beta2.ManagedClusterSet) error {
			stored, err := hub.OCM.ClusterV1beta2().ManagedClusterSets().Get(ctx, s.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stored.Spec = s.Spec
			return created(hub.OCM.ClusterV1beta2().ManagedClusterSets().Update(ctx, stored, metav1.UpdateOptions{}))
		}}),
		reconcile(before.Bindings, after.Bindings, changes[*clusterv1beta2.ManagedClusterSetBinding]{
			create: func(b *clusterv1beta2.ManagedClusterSetBinding) error { return createBinding(ctx, hub, b) },
			remove: func(b *clusterv1beta2.ManagedClusterSetBinding) error {
				return hub.OCM.ClusterV1beta2().ManagedClusterSetBindings(b.Namespace).Delete(ctx, b.Name, metav1.DeleteOptions{})
			},
		}),
		reconcile(before.Clusters, after.Clusters, changes[*clusterv1.ManagedCluster]{
			update: func(c *clusterv1.ManagedCluster) error { return updateCluster(ctx, hub, c) },
			remove: func(c *clusterv1.ManagedCluster) error {
				return hub.OCM.ClusterV1().ManagedClusters().Delete(ctx, c.Name, metav1.DeleteOptions{})
			},
		}),
		reconcile(before.Scores, after.Scores, changes[*clusterv1alpha1.AddOnPlacementScore]{update: func(s *clusterv1alpha1.AddOnPlacementScore) error {
			scores := hub.OCM.ClusterV1alpha1().AddOnPlacementScores(s.Namespace)
			stored, err := scores.Get(ctx, s.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stored.Status = s.Status
			return created(scores.UpdateStatus(ctx, stored, metav1.UpdateOptions{}))
		}}),
		reconcile(before.Placements, after.Placements, changes[*clusterv1beta1.Placement]{update: func(p *clusterv1beta1.Placement) error {
			return errors.Join(respecify(ctx, hub, p), respecify(ctx, hub, difftest.Direct(p)))
		}}),
	)
}

// changes says how an object is written. What is nil does not happen.
type changes[T metav1.Object] struct {
	create, update, remove func(T) error
}

func reconcile[T metav1.Object](before, after []T, c changes[T]) error {
	old := map[string]T{}
	for _, o := range before {
		old[keyOf(o)] = o
	}
	var errs []error
	for _, o := range after {
		was, known := old[keyOf(o)]
		delete(old, keyOf(o))
		switch {
		case !known:
			errs = append(errs, c.create(o))
		case !reflect.DeepEqual(was, o):
			errs = append(errs, c.update(o))
		}
	}
	for _, o := range old {
		errs = append(errs, c.remove(o))
	}
	return errors.Join(errs...)
}

func keyOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func updateCluster(ctx context.Context, hub Hub, c *clusterv1.ManagedCluster) error {
	clusters := hub.OCM.ClusterV1().ManagedClusters()
	stored, err := clusters.Get(ctx, c.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	stored.Labels, stored.Spec = c.Labels, c.Spec
	if stored, err = clusters.Update(ctx, stored, metav1.UpdateOptions{}); err != nil {
		return err
	}
	stored.Status = c.Status
	return created(clusters.UpdateStatus(ctx, stored, metav1.UpdateOptions{}))
}

// respecify replaces a Placement's spec, whose deciders write its status at
// the same time.
func respecify(ctx context.Context, hub Hub, p *clusterv1beta1.Placement) error {
	placements := hub.OCM.ClusterV1beta1().Placements(p.Namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stored, err := placements.Get(ctx, p.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		stored.Spec = p.Spec
		return created(placements.Update(ctx, stored, metav1.UpdateOptions{}))
	})
}
