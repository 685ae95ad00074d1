package rig

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

const (
	// Namespace is where the fleet's set is bound.
	Namespace = "default"
	// directAnnotation has OCM leave a Placement to others.
	directAnnotation = "cluster.open-cluster-management.io/experimental-scheduling-disable"
	// writers is how many objects are created at a time.
	writers = 16
)

// Place creates n Placements, PREFIX-0 and so on, that each want the one
// cluster with the best score, in turn of each dimension. Direct ones are
// decided by us, the others by OCM.
func (r *Rig) Place(ctx context.Context, prefix string, n int, by []Dimension, direct bool) ([]string, error) {
	names := make([]string, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
		p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: names[i], Namespace: Namespace}, Spec: by[i%len(by)].Best()}
		if direct {
			p.Annotations = map[string]string{directAnnotation: "true"}
		}
		group.Go(func() error {
			_, err := r.Hub.ClusterV1beta1().Placements(Namespace).Create(ctx, p, metav1.CreateOptions{})
			return err
		})
	}
	return names, group.Wait()
}

// CreateScores creates the AddOnPlacementScores of the dimensions for each
// cluster; first is the value of the first dimension.
func (r *Rig) CreateScores(ctx context.Context, of []Dimension, clusters []string, first func(cluster string) int32) error {
	for _, group := range ByResource(of) {
		if err := r.createScores(ctx, group, clusters, first); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rig) createScores(ctx context.Context, of []Dimension, clusters []string, first func(cluster string) int32) error {
	name := of[0].Resource
	r.Say("creating %d AddOnPlacementScores %s", len(clusters), name)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i, cluster := range clusters {
		group.Go(func() error {
			s := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster}}
			if _, err := r.Hub.ClusterV1alpha1().AddOnPlacementScores(cluster).Create(ctx, s, metav1.CreateOptions{}); err != nil {
				return err
			}
			return r.WriteScores(ctx, cluster, name, Scores(of, i, first(cluster)))
		})
	}
	return group.Wait()
}

// WriteScores replaces the values of an AddOnPlacementScore in one call.
func (r *Rig) WriteScores(ctx context.Context, cluster, name string, scores []clusterv1alpha1.AddOnPlacementScoreItem) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"scores": scores}})
	if err != nil {
		return err
	}
	_, err = r.Hub.ClusterV1alpha1().AddOnPlacementScores(cluster).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
