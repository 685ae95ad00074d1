package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

var loadRule = fold.Rule{
	Scorer: "load", Metric: "load_free", Low: 0, High: 1000,
	Placement: "default/load", Select: 2, Clusters: []string{"spoke-1", "spoke-2", "spoke-3"},
}

const loadManifests = `
apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: load}
spec: {cel: 'linear(metric("load_free"), 0, 1000)', validFor: 30m}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: load
  namespace: default
  annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}
spec:
  numberOfClusters: 2
  prioritizerPolicy:
    mode: Exact
    configurations: [{scoreCoordinate: {type: AddOn, addOn: {resourceName: load, scoreName: load}}}]
`

// hubState reads what the rule's objects on the hub say.
func hubState(ctx context.Context, hub hubClients) (fold.State, error) {
	state := fold.State{Scores: map[string]int32{}}
	scores, err := hub.ocm.ClusterV1alpha1().AddOnPlacementScores("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return state, err
	}
	for _, s := range scores.Items {
		if s.Name != loadRule.Scorer {
			continue
		}
		for _, item := range s.Status.Scores {
			state.Scores[s.Namespace] = item.Value
		}
	}
	namespace, name, _ := strings.Cut(loadRule.Placement, "/")
	decisions, err := hub.ocm.ClusterV1beta1().PlacementDecisions(namespace).List(ctx, metav1.ListOptions{LabelSelector: clusterv1beta1.PlacementLabel + "=" + name})
	if err != nil {
		return state, err
	}
	for _, d := range decisions.Items {
		for _, c := range d.Status.Decisions {
			state.Selected = append(state.Selected, c.ClusterName)
		}
	}
	slices.Sort(state.Selected)
	return state, nil
}

// apply types `spokewire apply`.
func apply(t *testing.T, s *stack.Stack, manifests string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifests.yaml")
	if err := os.WriteFile(file, []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := spokewire(t, s, "apply", "-f", file); err != nil {
		t.Fatalf("apply: %v\n%s", err, out)
	}
}
