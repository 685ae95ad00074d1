package tour

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/pause"
)

// between two looks at the hub this much time passes. A watch would be
// quicker by less; a look is easier to follow.
const between = 5 * time.Millisecond

// waitForScores returns once every cluster has an AddOnPlacementScore of that
// name on the hub.
func (g *guide) waitForScores(ctx context.Context, name string) error {
	for _, cluster := range g.stack.Clusters() {
		for {
			score, err := g.hub.ClusterV1alpha1().AddOnPlacementScores(cluster).Get(ctx, name, metav1.GetOptions{})
			if err == nil && len(score.Status.Scores) > 0 {
				break
			}
			if !pause.For(ctx, between) {
				return fmt.Errorf("the hub has no AddOnPlacementScore %s/%s: %w", cluster, name, err)
			}
		}
	}
	return nil
}

// waitForWinner returns the one cluster of a Placement's decision on the hub,
// once that is another than before, and when it was seen.
func (g *guide) waitForWinner(ctx context.Context, placement, before string) (string, time.Time, error) {
	selector := metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + placement}
	last := "no PlacementDecision"
	for {
		list, err := g.hub.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, selector)
		switch {
		case err != nil:
			last = err.Error()
		case len(list.Items) == 1 && len(list.Items[0].Status.Decisions) == 1:
			winner := list.Items[0].Status.Decisions[0].ClusterName
			if winner != before {
				return winner, time.Now(), nil
			}
			last = "still " + before
		}
		if !pause.For(ctx, between) {
			return "", time.Time{}, fmt.Errorf("the decision of Placement %s/%s did not come: %s", namespace, placement, last)
		}
	}
}
