package fleettest_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/spokewire/spokewire/internal/hub/fleettest"
	"github.com/spokewire/spokewire/internal/testwait"
)

// A cluster joins by OCM's registration, and its work agent delivers what the
// hub has for it by the credentials that it got.
func TestASpokeJoinsAndGetsItsWork(t *testing.T) {
	t.Parallel()
	start := time.Now()
	f := fleettest.Start(t, 1)
	t.Logf("hub and spoke are ready after %s", time.Since(start))
	ctx, spoke := t.Context(), f.Spokes[0]
	must(t, f.StartRegistration(ctx))
	credentials, err := f.Join(ctx, spoke)
	must(t, err)
	t.Logf("joined after %s", time.Since(start))
	must(t, f.StartWorkAgent(ctx, spoke, credentials))

	ocm := clusterclient.NewForConfigOrDie(f.Hub.Config)
	testwait.Eventually(t, "the cluster is available", func() bool {
		c, err := ocm.ClusterV1().ManagedClusters().Get(ctx, spoke.Name, metav1.GetOptions{})
		return err == nil && meta.IsStatusConditionTrue(c.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
	})
	parcel := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "parcel", Namespace: "default"}}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Name: "parcel", Namespace: spoke.Name}}
	work.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Object: parcel}}}
	_, err = workclient.NewForConfigOrDie(f.Hub.Config).WorkV1().ManifestWorks(spoke.Name).Create(ctx, work, metav1.CreateOptions{})
	must(t, err)
	there := kubernetes.NewForConfigOrDie(spoke.Config).CoreV1().ConfigMaps("default")
	testwait.Eventually(t, "the parcel is on the spoke", func() bool {
		_, err := there.Get(ctx, "parcel", metav1.GetOptions{})
		return err == nil
	})
	t.Logf("delivered after %s", time.Since(start))

	as, err := clientcmd.BuildConfigFromFlags("", credentials)
	must(t, err)
	_, err = kubernetes.NewForConfigOrDie(as).CoreV1().Secrets("").List(ctx, metav1.ListOptions{})
	if err == nil {
		t.Error("the spoke's credentials read every secret of the hub")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
