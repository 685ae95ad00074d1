package twin

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/internal/difftest"
)

// barrierLimit is how long either side may take to see what was written.
const barrierLimit = 3 * time.Minute

// barrier waits until both deciders select by the newest object of every
// kind: each follows the objects of a kind in the order in which they were
// written, so that they know all older ones too.
func (r *run) barrier(ctx context.Context, name string) error {
	marker := markerFleet(name)
	if err := createFleet(ctx, r.hub, &marker); err != nil {
		return err
	}
	p := marker.Placements[0]
	for _, twin := range []*clusterv1beta1.Placement{p, difftest.Direct(p)} {
		wanted := func(a difftest.Answer) bool { return slices.Equal(a.Clusters, []string{name + "-2"}) }
		if _, err := r.hub.await(ctx, twin, barrierLimit, wanted); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the hub shows an answer as wanted.
func (h Hub) await(ctx context.Context, p *clusterv1beta1.Placement, limit time.Duration, wanted func(difftest.Answer) bool) (difftest.Answer, error) {
	for deadline := time.Now().Add(limit); ; {
		answers := map[string]difftest.Answer{}
		if err := h.readNamespace(ctx, answers, p.Namespace); err != nil {
			return difftest.Answer{}, err
		}
		answer := answers[keyOf(p)]
		if wanted(answer) {
			return answer, nil
		}
		if time.Now().After(deadline) {
			return answer, fmt.Errorf("placement %s is not as wanted after %s: %s", keyOf(p), limit, answer)
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return answer, err
		}
	}
}

// markerFleet has one Placement, of its second cluster.
func markerFleet(name string) difftest.Fleet {
	one := int32(1)
	spec := clusterv1beta1.PlacementSpec{
		NumberOfClusters: &one,
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact,
			Configurations: []clusterv1beta1.PrioritizerConfig{{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: name, ScoreName: name},
			}}},
		},
	}
	f := difftest.Fleet{
		Name: name, Namespaces: []string{name},
		Sets:       []*clusterv1beta2.ManagedClusterSet{{ObjectMeta: metav1.ObjectMeta{Name: name}}},
		Bindings:   []*clusterv1beta2.ManagedClusterSetBinding{{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: name}}},
		Placements: []*clusterv1beta1.Placement{{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name}, Spec: spec}},
	}
	for i, value := range []int32{1, 2} {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i+1), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: name}}}
		cluster.Status.Conditions = []metav1.Condition{}
		score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster.Name}}
		score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: name, Value: value}}
		f.Clusters, f.Scores = append(f.Clusters, cluster), append(f.Scores, score)
	}
	return f
}
