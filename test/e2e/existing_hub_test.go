package e2e

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/stack"
)

func TestAnExistingHubIsLeftAsItIsUnlessSpokesAreAskedFor(t *testing.T) {
	h := hubtest.Start(t)
	kubeconfig := adminKubeconfig(t, h)
	ocm := clusterclient.NewForConfigOrDie(h.Admin())

	s := startStack(t, func(o *stack.Options) { o.Hub = kubeconfig })
	if got := objects(t, ocm); got != 0 {
		t.Errorf("the stack created %d clusters, sets and bindings on a hub that is not its own", got)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := ocm.ClusterV1().ManagedClusters().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the hub is gone with the stack: %v", err)
	}

	startStack(t, func(o *stack.Options) { o.Hub, o.Spokes = kubeconfig, 2 })
	if got, want := objects(t, ocm), 2+1+1; got != want {
		t.Errorf("with --spokes 2 the hub has %d clusters, sets and bindings, want %d", got, want)
	}
}

func adminKubeconfig(t *testing.T, h *hub.Hub) string {
	t.Helper()
	admin, err := h.AddUser("somebody", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, admin.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// objects counts the clusters, sets and bindings on the hub.
func objects(t *testing.T, ocm clusterclient.Interface) int {
	t.Helper()
	list := metav1.ListOptions{}
	clusters, err := ocm.ClusterV1().ManagedClusters().List(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := ocm.ClusterV1beta2().ManagedClusterSets().List(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := ocm.ClusterV1beta2().ManagedClusterSetBindings("").List(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return len(clusters.Items) + len(sets.Items) + len(bindings.Items)
}
