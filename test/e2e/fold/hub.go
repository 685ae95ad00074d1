package fold

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// OnHub reads what the rule's objects on the hub say, to be compared with
// what the log says.
func (r Rule) OnHub(ctx context.Context, hub clusterclient.Interface) (State, error) {
	state := State{Scores: map[string]int32{}}
	scores, err := hub.ClusterV1alpha1().AddOnPlacementScores("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return state, err
	}
	for _, s := range scores.Items {
		if s.Name != r.Scorer {
			continue
		}
		for _, item := range s.Status.Scores {
			state.Scores[s.Namespace] = item.Value
		}
	}
	namespace, name, _ := strings.Cut(r.Placement, "/")
	pages, err := hub.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return state, err
	}
	for _, page := range pages.Items {
		for _, c := range page.Status.Decisions {
			state.Selected = append(state.Selected, c.ClusterName)
		}
	}
	slices.Sort(state.Selected)
	return state, nil
}
