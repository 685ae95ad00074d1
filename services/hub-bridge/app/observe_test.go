package app_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// observed waits until the bus has something of an object.
func observed[T schemas.Payload](e *env, kind, namespace, name string, check func(T) error) T {
	e.t.Helper()
	var payload T
	eventually(e.t, "the bus knows "+kind+" "+name, func() (err error) {
		payload, err = last[T](e, events.StreamHub, events.HubSubject(kind, namespace, name))
		if err == nil && check != nil {
			err = check(payload)
		}
		return err
	})
	return payload
}

func TestObserveCluster(t *testing.T) {
	t.Parallel()
	e := start(t)
	name := e.ns + ".dotted"
	c := e.cluster(name)
	added := metav1.NewTime(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	c.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Value: "yes", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: added}}
	c.Annotations = map[string]string{"spokewire.dev/note": "kept", "other.io/note": "kept", "other.io/long": strings.Repeat("x", 4<<10)}
	c, err := e.hub.ClusterV1().ManagedClusters().Update(t.Context(), c, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.Status = clusterv1.ManagedClusterStatus{
		Conditions:    []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: "True", Reason: "Ok", LastTransitionTime: metav1.Now()}},
		Allocatable:   clusterv1.ResourceList{clusterv1.ResourceCPU: resource.MustParse("3500m")},
		Capacity:      clusterv1.ResourceList{clusterv1.ResourceMemory: resource.MustParse("16Gi")},
		ClusterClaims: []clusterv1.ManagedClusterClaim{{Name: "zone", Value: "z1"}},
	}
	c, err = e.hub.ClusterV1().ManagedClusters().UpdateStatus(t.Context(), c, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := observed(e, events.KindCluster, "", name, func(c *schemas.Cluster) error {
		if len(c.Claims) == 0 {
			return errors.New("no claims yet")
		}
		return nil
	})
	want := &schemas.Cluster{
		Name: name, UID: string(c.UID), Labels: map[string]string{"region": "north"},
		Annotations: map[string]string{"spokewire.dev/note": "kept", "other.io/note": "kept"}, Omitted: []string{"other.io/long"}, Claims: map[string]string{"zone": "z1"},
		Taints:      []schemas.Taint{{Key: "gpu", Value: "yes", Effect: "NoSelect", TimeAdded: added.Time}},
		Allocatable: map[string]string{"cpu": "3500m"}, Capacity: map[string]string{"memory": "16Gi"},
		Conditions:       map[string]string{clusterv1.ManagedClusterConditionAvailable: "True"},
		ConditionReasons: map[string]string{clusterv1.ManagedClusterConditionAvailable: c.Status.Conditions[0].Reason},
		CreatedAt:        c.CreationTimestamp.UTC(), LeaseSeconds: c.Spec.LeaseDurationSeconds, Accepted: c.Spec.HubAcceptsClient,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A heartbeat says nothing new; the taint that follows it does.
	subject := events.HubSubject(events.KindCluster, "", name)
	before, err := e.bus.Last(t.Context(), events.StreamHub, subject)
	if err != nil {
		t.Fatal(err)
	}
	c.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(time.Hour))
	if c, err = e.hub.ClusterV1().ManagedClusters().UpdateStatus(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the bridge has seen the heartbeat", func() error { return e.sawVersion(events.KindCluster) })
	if now, err := e.bus.Last(t.Context(), events.StreamHub, subject); err != nil || now.Sequence != before.Sequence {
		t.Errorf("the heartbeat was published as %d (%v)", now.Sequence, err)
	}
	c.Finalizers = []string{"spokewire.dev/test"}
	if _, err = e.hub.ClusterV1().ManagedClusters().Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.hub.ClusterV1().ManagedClusters().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	observed(e, events.KindCluster, "", name, func(c *schemas.Cluster) error {
		if !c.Deleting {
			return errors.New("not deleting")
		}
		return nil
	})
	if c, err = e.hub.ClusterV1().ManagedClusters().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Finalizers = nil
	if _, err := e.hub.ClusterV1().ManagedClusters().Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	observed[*schemas.Deleted](e, events.KindCluster, "", name, nil)
}

// sawVersion creates a marker object and waits for it, so that what came
// before on the hub is known to have been looked at.
func (e *env) sawVersion(string) error {
	marker := "marker-" + e.ns
	_, err := e.hub.ClusterV1().ManagedClusters().Get(e.t.Context(), marker, metav1.GetOptions{})
	if err != nil {
		e.cluster(marker)
	}
	_, err = last[*schemas.Cluster](e, events.StreamHub, events.HubSubject(events.KindCluster, "", marker))
	return err
}

func TestObserveOtherKinds(t *testing.T) {
	t.Parallel()
	e := start(t)
	set := "set-" + e.ns
	_, err := e.hub.ClusterV1beta2().ManagedClusterSets().Create(t.Context(), &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: set},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"region": "north"}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := observed[*schemas.ClusterSet](e, events.KindClusterSet, "", set, nil); got.SelectorType != "LabelSelector" || string(got.LabelSelector) != `{"matchLabels":{"region":"north"}}` {
		t.Errorf("set is %+v", *got)
	}
	_, err = e.hub.ClusterV1beta2().ManagedClusterSetBindings(e.ns).Create(t.Context(), &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Name: set, Namespace: e.ns}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := observed[*schemas.Binding](e, events.KindBinding, e.ns, set, nil); got.ClusterSet != set {
		t.Errorf("binding is %+v", *got)
	}
	p := e.placement("train", true)
	if got := observed[*schemas.Placement](e, events.KindPlacement, e.ns, "train", nil); !got.Direct || got.UID != string(p.UID) || got.Generation != 1 {
		t.Errorf("placement is %+v", *got)
	}
	e.foreignScore("theirs", 42)
	observed(e, events.KindAddOnScore, e.ns, "theirs", func(s *schemas.AddOnScore) error {
		if s.Scores["theirs"] != 42 {
			return fmt.Errorf("scores are %v", s.Scores)
		}
		return nil
	})
	if err := e.hub.ClusterV1beta2().ManagedClusterSets().Delete(t.Context(), set, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	observed[*schemas.Deleted](e, events.KindClusterSet, "", set, nil)
}

// foreignScore writes an AddOnPlacementScore that is not ours into the
// test's namespace.
func (e *env) foreignScore(name string, value int32) {
	e.t.Helper()
	scores := e.hub.ClusterV1alpha1().AddOnPlacementScores(e.ns)
	s, err := scores.Create(e.t.Context(), &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.ns}}, metav1.CreateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	s.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: name, Value: value}}
	if _, err := scores.UpdateStatus(e.t.Context(), s, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
}

// What was deleted while no bridge ran is tombstoned when one starts.
func TestGhostsAreTombstoned(t *testing.T) {
	t.Parallel()
	e := prepare(t)
	subject := events.HubSubject(events.KindCluster, "", "ghost")
	e.publish(subject, schemas.TypeHubCluster, &schemas.Cluster{Name: "ghost"})
	e.run()
	observed[*schemas.Deleted](e, events.KindCluster, "", "ghost", nil)
}

// ocmPage writes a PlacementDecision as OCM's controller does.
func (e *env) ocmPage(p *clusterv1beta1.Placement, clusters ...string) {
	e.t.Helper()
	api := e.hub.ClusterV1beta1().PlacementDecisions(e.ns)
	page, err := api.Get(e.t.Context(), p.Name+"-decision-1", metav1.GetOptions{})
	if err != nil {
		page, err = api.Create(e.t.Context(), &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Name: p.Name + "-decision-1", Namespace: e.ns,
			Labels: map[string]string{
				clusterv1beta1.PlacementLabel: p.Name, clusterv1beta1.DecisionGroupIndexLabel: "0", clusterv1beta1.DecisionGroupNameLabel: "",
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p, schema.GroupVersionKind{Group: clusterv1beta1.GroupName, Version: "v1beta1", Kind: "Placement"})},
		}}, metav1.CreateOptions{})
		if err != nil {
			e.t.Fatal(err)
		}
	}
	page.Status.Decisions = nil
	for _, c := range clusters {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	if _, err := api.UpdateStatus(e.t.Context(), page, metav1.UpdateOptions{}); err != nil {
		e.t.Fatal(err)
	}
}

func TestNativeDecisionsArePublished(t *testing.T) {
	t.Parallel()
	e := start(t)
	p := e.placement("native", false)
	e.ocmPage(p, "a", "b")
	e.nativeSelects("native", "a", "b")
	e.ocmPage(p, "b", "c")
	d := e.nativeSelects("native", "b", "c")
	if diff := cmp.Diff([][]string{{"c"}, {"a"}}, [][]string{d.Added, d.Removed}); diff != "" {
		t.Errorf("added and removed (-want +got):\n%s", diff)
	}
	if d.Cause != "ObservedOnHub" || d.Placement.UID != string(p.UID) || d.Previous == 0 || d.Basis[events.StreamHub] == 0 {
		t.Errorf("decision is %+v", *d)
	}
	if got := observed[*schemas.ObservedDecision](e, events.KindPlacementDecision, e.ns, "native", nil); got.Writer != "ocm" {
		t.Errorf("observed is %+v", *got)
	}
	if err := e.hub.ClusterV1beta1().Placements(e.ns).Delete(t.Context(), "native", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "OCM's decision ends", func() error {
		_, err := last[*schemas.Deleted](e, events.StreamDecisions, events.DecisionSubject(events.KindPlacement, e.ns, "native"))
		return err
	})
}
