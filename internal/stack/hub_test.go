package stack

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spokewire/spokewire/internal/hub/hubtest"
)

func TestTheLeaseIsWhereADeployedBridgeHasIt(t *testing.T) {
	t.Parallel()
	h := hubtest.Start(t)
	admin := kubernetes.NewForConfigOrDie(h.Admin())
	stranger, err := h.AddUser("stranger")
	if err != nil {
		t.Fatal(err)
	}
	want := func(who string, client kubernetes.Interface, namespace string) {
		t.Helper()
		switch got, err := leaseNamespace(t.Context(), client); {
		case err != nil:
			t.Errorf("%s: %v", who, err)
		case got != namespace:
			t.Errorf("%s finds the Lease in %q, want %q", who, got, namespace)
		}
	}
	want("who sees that no bridge is deployed", admin, "default")
	want("who may not look", kubernetes.NewForConfigOrDie(stranger.Config), "spokewire")

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "spokewire"}}
	if _, err := admin.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	want("who sees a deployed bridge", admin, "spokewire")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := leaseNamespace(ended, admin); err == nil {
		t.Error("a hub that does not answer is no error")
	}
}
