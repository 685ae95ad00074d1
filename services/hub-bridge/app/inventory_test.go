package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// profile waits until check is content with the ClusterProfile of that name.
func (e *env) profile(name, what string, check func(*sig.ClusterProfile) bool) *sig.ClusterProfile {
	e.t.Helper()
	var p *sig.ClusterProfile
	eventually(e.t, "profile "+name+": "+what, func() (err error) {
		p, err = sigHub().ApisV1alpha1().ClusterProfiles(e.ns).Get(e.t.Context(), name, metav1.GetOptions{})
		if err == nil && !check(p) {
			err = fmt.Errorf("it is %+v", *p)
		}
		return err
	})
	return p
}

func (e *env) noProfile(name string) {
	e.t.Helper()
	eventually(e.t, "profile "+name+" is gone", func() error {
		_, err := sigHub().ApisV1alpha1().ClusterProfiles(e.ns).Get(e.t.Context(), name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading it gives %w", err)
		}
		return nil
	})
}

// bind makes a set of the test's name and binds it in the test's namespace.
func (e *env) bind() {
	e.t.Helper()
	sets, bindings := e.hub.ClusterV1beta2().ManagedClusterSets(), e.hub.ClusterV1beta2().ManagedClusterSetBindings(e.ns)
	if _, err := sets.Create(e.t.Context(), &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: e.ns}}, metav1.CreateOptions{}); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = sets.Delete(context.Background(), e.ns, metav1.DeleteOptions{}) })
	_, err := bindings.Create(e.t.Context(), &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Name: e.ns}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: e.ns},
	}, metav1.CreateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
}

// in puts a ManagedCluster of that name into the set of the test's name.
func (e *env) in(name string) *clusterv1.ManagedCluster {
	e.t.Helper()
	e.cluster(name)
	c, err := e.hub.ClusterV1().ManagedClusters().Patch(e.t.Context(), name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata": {"labels": {%q: %q}}, "spec": {"managedClusterClientConfigs": [{"url": "https://c:6443", "caBundle": "Y2E="}]}}`, clusterv1beta2.ClusterSetLabel, e.ns),
		metav1.PatchOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return c
}

// TestClusterProfiles runs one after the other what shares the hub's
// ClusterProfiles: the bridge writes them in every namespace with a bound
// set, and gives way to OCM's copier wherever that has written one.
func TestClusterProfiles(t *testing.T) {
	t.Parallel()
	t.Run("of ManagedClusters", profilesOfManagedClusters)
	t.Run("as clusters", profilesAsClusters)
	t.Run("in a move", profilesInAMove)
}

func profilesOfManagedClusters(t *testing.T) {
	e := startSIG(t, "profiles.yaml", func(e *env) { e.options.Profiles = true })
	e.bind()
	name := e.ns + "-c"
	c := e.in(name)
	p := e.profile(name, "says where it is", func(p *sig.ClusterProfile) bool { return len(p.Status.AccessProviders) == 1 })
	if p.Spec.ClusterManager.Name != "spokewire" || p.Labels[sig.LabelClusterSetKey] != e.ns || p.Status.AccessProviders[0].Cluster.Server != "https://c:6443" {
		t.Errorf("the profile is %+v", *p)
	}

	c.Status = clusterv1.ManagedClusterStatus{
		Version:       clusterv1.ManagedClusterVersion{Kubernetes: "v1.37.2"},
		ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "zone", Value: "z1"}},
		Conditions:    []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: "False", Reason: "Down", LastTransitionTime: metav1.Now()}},
	}
	if _, err := e.hub.ClusterV1().ManagedClusters().UpdateStatus(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.profile(name, "follows the cluster", func(p *sig.ClusterProfile) bool {
		return p.Status.Version.Kubernetes == "v1.37.2" && len(p.Status.Properties) == 1 && len(p.Status.Conditions) == 1 &&
			p.Status.Conditions[0].Type == sig.ClusterConditionControlPlaneHealthy && p.Status.Conditions[0].Status == "False"
	})

	// One that others change is restored.
	if _, err := sigHub().ApisV1alpha1().ClusterProfiles(e.ns).Patch(t.Context(), name, types.MergePatchType,
		[]byte(`{"metadata": {"labels": null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	e.profile(name, "has its labels again", func(p *sig.ClusterProfile) bool { return p.Labels[sig.LabelClusterManagerKey] == "spokewire" })

	// OCM's own copier has the word.
	copied := &sig.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "copied", Namespace: e.ns}, Spec: sig.ClusterProfileSpec{ClusterManager: sig.ClusterManager{Name: bridge.ManagerOCM}},
	}
	if _, err := sigHub().ApisV1alpha1().ClusterProfiles(e.ns).Create(t.Context(), copied, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.noProfile(name)
	if detail := e.runtime.Health.Details()["clusterprofiles"]; !strings.Contains(detail, "left to OCM") || !strings.Contains(detail, "/copied") {
		t.Errorf("/readyz says %q", detail)
	}
	if err := sigHub().ApisV1alpha1().ClusterProfiles(e.ns).Delete(t.Context(), "copied", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.profile(name, "is back", func(*sig.ClusterProfile) bool { return true })

	if err := e.hub.ClusterV1().ManagedClusters().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.noProfile(name)
}

// startInventory has the ClusterProfiles of the test's namespace be clusters of
// set inventory.
func startInventory(t *testing.T) *env {
	return startSIG(t, "inventory.yaml", func(e *env) {
		e.options.Inventory = e.ns
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {%q: "inventory"}}}`, sig.LabelClusterSetKey)
		_, err := kubernetes.NewForConfigOrDie(theHub.Admin()).CoreV1().Namespaces().Patch(t.Context(), e.ns, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// profilesInAMove: a cluster that only a ClusterProfile tells of stays for an
// overlap as one does that has a ManagedCluster, and no longer than it is there.
func profilesInAMove(t *testing.T) {
	e := startInventory(t)
	leaving, arriving := e.ns+"-a", e.ns+"-b"
	profiles := sigHub().ApisV1alpha1().ClusterProfiles(e.ns)
	_, err := profiles.Create(t.Context(), &sig.ClusterProfile{
		ObjectMeta: metav1.ObjectMeta{Name: leaving}, Spec: sig.ClusterProfileSpec{ClusterManager: sig.ClusterManager{Name: "fleet-manager"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	observed[*schemas.Cluster](e, events.KindCluster, "", leaving, nil)
	e.cluster(arriving)
	p := e.overlapping("1h")
	e.applied(decision(p, leaving))
	if r := e.applied(decision(p, arriving)); r.Reason != bridge.ReasonOverlap {
		t.Errorf("the receipt is %+v, want reason %s", *r, bridge.ReasonOverlap)
	}
	e.selects("p", leaving, arriving)
	if err := profiles.Delete(t.Context(), leaving, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.selects("p", arriving)
	e.isOver(bridge.ReasonOverlapOver)
}

func profilesAsClusters(t *testing.T) {
	e := startInventory(t)
	name := e.ns + "-c"
	profiles := sigHub().ApisV1alpha1().ClusterProfiles(e.ns)
	create := func(name, manager string) *sig.ClusterProfile {
		p, err := profiles.Create(t.Context(), &sig.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": "gold"}},
			Spec:       sig.ClusterProfileSpec{ClusterManager: sig.ClusterManager{Name: manager}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	create(name+"-copy", bridge.ManagerOCM)
	p := create(name, "fleet-manager")
	p.Status.Properties = []sig.Property{{Name: "region", Value: "south"}}
	p.Status.Conditions = []metav1.Condition{{Type: sig.ClusterConditionControlPlaneHealthy, Status: "False", Reason: "Down", LastTransitionTime: metav1.Now()}}
	if _, err := profiles.UpdateStatus(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	observed(e, events.KindCluster, "", name, func(c *schemas.Cluster) error {
		want := c.Labels["tier"] == "gold" && c.Labels[clusterv1beta2.ClusterSetLabel] == "inventory" && c.Claims["region"] == "south" &&
			len(c.Taints) == 1 && c.Taints[0].Key == clusterv1.ManagedClusterTaintUnavailable && c.Accepted
		if !want {
			text, _ := json.Marshal(c)
			return errors.New(string(text))
		}
		return nil
	})
	if _, err := e.bus.Last(t.Context(), events.StreamHub, events.HubSubject(events.KindCluster, "", name+"-copy")); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("a copy of a ManagedCluster is told as a cluster: %v", err)
	}

	// A ManagedCluster of the name has the word while it is there.
	e.cluster(name)
	observed(e, events.KindCluster, "", name, func(c *schemas.Cluster) error {
		if c.Labels["region"] != "north" || len(c.Taints) > 0 {
			return fmt.Errorf("it has the labels %v", c.Labels)
		}
		return nil
	})
	if err := e.hub.ClusterV1().ManagedClusters().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	observed(e, events.KindCluster, "", name, func(c *schemas.Cluster) error {
		if c.Labels["tier"] != "gold" {
			return fmt.Errorf("it has the labels %v", c.Labels)
		}
		return nil
	})
	if err := profiles.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	observed[*schemas.Deleted](e, events.KindCluster, "", name, nil)
}
