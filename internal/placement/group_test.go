package placement

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	canary := clusterv1beta1.DecisionGroup{GroupName: "canary"}
	canary.ClusterSelector.LabelSelector.MatchLabels = map[string]string{"canary": "yes"}
	tests := map[string]struct {
		strategy   clusterv1beta1.GroupStrategy
		clusters   int
		want       []schemas.DecisionGroup
		wantGroups []int // of c0, c1 ...
	}{
		"one by default":   {clusters: 3, want: []schemas.DecisionGroup{{Count: 3}}, wantGroups: []int{0, 0, 0}},
		"none selected":    {clusters: 0, want: []schemas.DecisionGroup{{}}, wantGroups: []int{}},
		"by number":        {strategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromInt32(2)}, clusters: 5, want: []schemas.DecisionGroup{{Count: 2}, {Count: 2}, {Count: 1}}, wantGroups: []int{0, 0, 1, 1, 2}},
		"by percentage":    {strategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: intstr.FromString("30%")}, clusters: 5, want: []schemas.DecisionGroup{{Count: 2}, {Count: 2}, {Count: 1}}, wantGroups: []int{0, 0, 1, 1, 2}},
		"a named one":      {strategy: clusterv1beta1.GroupStrategy{DecisionGroups: []clusterv1beta1.DecisionGroup{canary}}, clusters: 4, want: []schemas.DecisionGroup{{Name: "canary", Count: 2}, {Count: 2}}, wantGroups: []int{0, 1, 0, 1}},
		"a named one, cut": {strategy: clusterv1beta1.GroupStrategy{DecisionGroups: []clusterv1beta1.DecisionGroup{canary}, ClustersPerDecisionGroup: intstr.FromInt32(1)}, clusters: 3, want: []schemas.DecisionGroup{{Name: "canary", Count: 1}, {Name: "canary", Count: 1}, {Count: 1}}, wantGroups: []int{0, 2, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cluster("z", inSet("other"))
			for i := range tt.clusters {
				changes := []func(*schemas.Cluster){}
				if i%2 == 0 {
					changes = append(changes, labelled("canary", "yes"))
				}
				w.cluster(fmt.Sprintf("c%d", i), changes...)
			}
			d := w.decide(place(t, clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: tt.strategy}}), nil)
			if diff := cmp.Diff(tt.want, d.Groups); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			got := make([]int, len(d.Clusters))
			for i, c := range d.Clusters {
				got[i] = c.Group
			}
			if !slices.Equal(got, tt.wantGroups) {
				t.Errorf("cluster groups %v, want %v", got, tt.wantGroups)
			}
		})
	}
}
