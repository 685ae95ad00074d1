package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

func TestAnExistingHubIsUsedAndNothingIsCreatedOnIt(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t)
	if err := stack.CreateFleet(t.Context(), h.Admin(), 3); err != nil {
		t.Fatal(err)
	}
	ocm := clusterclient.NewForConfigOrDie(h.Admin())
	before := objects(t, ocm)

	s := startStack(t, func(o *stack.Options) { o.Hub = bridgeKubeconfig(t, h) })
	placesByLoad(t, s)
	if got := objects(t, ocm); got != before {
		t.Errorf("the hub has %d clusters, sets and bindings, had %d before the stack", got, before)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := ocm.ClusterV1().ManagedClusters().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the hub is gone with the stack: %v", err)
	}
}

func TestSpokesAreCreatedOnAnExistingHubIfAskedFor(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t)
	s := startStack(t, func(o *stack.Options) {
		o.Hub, o.BridgeKubeconfig, o.Spokes = kubeconfig(t, h, "somebody", "system:masters"), bridgeKubeconfig(t, h), 3
	})
	if got, want := objects(t, clusterclient.NewForConfigOrDie(h.Admin())), 3+1+1; got != want {
		t.Errorf("with --spokes 3 the hub has %d clusters, sets and bindings, want %d", got, want)
	}
	placesByLoad(t, s)
}

// A second stack on the hub says whose bridge it waits for, and so does doctor.
func TestASecondStackNamesWhoWrites(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t)
	if err := stack.CreateFleet(t.Context(), h.Admin(), 1); err != nil {
		t.Fatal(err)
	}
	existing := func(o *stack.Options) {
		o.Hub, o.BridgeKubeconfig = kubeconfig(t, h, "admin", "system:masters"), bridgeKubeconfig(t, h)
	}
	first := startStack(t, existing)
	if other := first.OtherWriter(t.Context()); other != "" {
		t.Errorf("the only stack waits: %s", other)
	}
	second := startStack(t, existing)
	holder := "held by hub-bridge-"
	if other := second.OtherWriter(t.Context()); !strings.HasPrefix(other, holder) {
		t.Errorf("the second stack says %q, want %q…", other, holder)
	}
	out, err := spokewire(t, second, "doctor", "--kubeconfig", second.Kubeconfig())
	if err == nil || !strings.Contains(out, "that is the bridge of another bus") {
		t.Errorf("doctor (%v):\n%s", err, out)
	}
	if out, _ := spokewire(t, first, "doctor", "--kubeconfig", first.Kubeconfig()); !regexp.MustCompile(`hub writer +yes +hub-bridge-`).MatchString(out) {
		t.Errorf("doctor of the first stack:\n%s", out)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if other := second.OtherWriter(t.Context()); other != "" {
		t.Errorf("it still waits: %s", other)
	}
}

// placesByLoad applies the load rule, publishes a load for each cluster and
// waits until the hub shows what follows.
func placesByLoad(t *testing.T, s *stack.Stack) {
	t.Helper()
	apply(t, s, loadManifests)
	for i, cluster := range loadRule.Clusters {
		if out, err := spokewire(t, s, "publish", "--cluster", cluster, "--source", "load", fmt.Sprintf("load_free=%d", 100*(i+1))); err != nil {
			t.Fatalf("publish: %v\n%s", err, out)
		}
	}
	hub := hubOf(t, s)
	testwait.Within(t, 30*time.Second, func() string {
		got, err := loadRule.OnHub(t.Context(), hub.ocm)
		if err != nil {
			return err.Error()
		}
		return fold.Diff(got, fold.State{
			Scores:   map[string]int32{"spoke-1": 10, "spoke-2": 20, "spoke-3": 30},
			Selected: []string{"spoke-2", "spoke-3"},
		})
	})
}

// bridgeKubeconfig writes that of a user with the rights that hub-bridge is
// deployed with.
func bridgeKubeconfig(t *testing.T, h *hubtest.Hub) string {
	t.Helper()
	const name = "bridge"
	if err := stack.GrantBridge(t.Context(), h.Admin(), name); err != nil {
		t.Fatal(err)
	}
	return kubeconfig(t, h, name)
}

// kubeconfig writes that of a new user of the hub.
func kubeconfig(t *testing.T, h *hubtest.Hub, name string, groups ...string) string {
	t.Helper()
	user, err := h.AddUser(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, user.Kubeconfig, 0o600); err != nil {
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
