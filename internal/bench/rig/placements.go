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
// cluster with the best score of that name. Direct ones are decided by us,
// the others by OCM.
func (r *Rig) Place(ctx context.Context, prefix string, n int, score string, direct bool) ([]string, error) {
	names := make([]string, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
		p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: names[i], Namespace: Namespace}, Spec: BestBy(score)}
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

// BestBy selects the one cluster with the best score of that name.
func BestBy(score string) clusterv1beta1.PlacementSpec {
	one := int32(1)
	return clusterv1beta1.PlacementSpec{
		NumberOfClusters: &one,
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact,
			Configurations: []clusterv1beta1.PrioritizerConfig{{Weight: 1, ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: score, ScoreName: score},
			}}},
		},
	}
}

// CreateScores creates an AddOnPlacementScore of that name for each cluster
// and gives it its value.
func (r *Rig) CreateScores(ctx context.Context, name string, clusters []string, value func(cluster string) int32) error {
	r.Say("creating %d AddOnPlacementScores %s", len(clusters), name)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, cluster := range clusters {
		group.Go(func() error {
			s := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster}}
			if _, err := r.Hub.ClusterV1alpha1().AddOnPlacementScores(cluster).Create(ctx, s, metav1.CreateOptions{}); err != nil {
				return err
			}
			return r.WriteScore(ctx, cluster, name, value(cluster))
		})
	}
	return group.Wait()
}

// WriteScore changes the value of an AddOnPlacementScore in one call.
func (r *Rig) WriteScore(ctx context.Context, cluster, name string, value int32) error {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"scores": []map[string]any{{"name": name, "value": value}}}})
	if err != nil {
		return err
	}
	_, err = r.Hub.ClusterV1alpha1().AddOnPlacementScores(cluster).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
