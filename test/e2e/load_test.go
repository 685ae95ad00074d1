package e2e

import (
	"os"
	"path/filepath"
	"testing"

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
