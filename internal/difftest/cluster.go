package difftest

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// attribute is a label or a claim with the values that it takes.
type attribute struct {
	key    string
	values []string
}

var (
	labelled = []attribute{{"region", []string{"eu", "us", "ap"}}, {"tier", []string{"gold", "silver", ""}}, {"example.com/gpu", []string{"true"}}}
	claimed  = []attribute{{"version", []string{"1.35", "1.36", "1.37"}}, {"platform.example.com", []string{"aws", "gcp"}}}
)

// taintKeys has one that OCM itself sets.
var taintKeys = []string{"maintenance", "example.com/gpu", clusterv1.ManagedClusterTaintUnavailable}

var taintEffects = []clusterv1.TaintEffect{clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectPreferNoSelect, clusterv1.TaintEffectNoSelectIfNew}

func (f *Fleet) cluster(d draw, name string, now time.Time) *clusterv1.ManagedCluster {
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{LabelFleet: f.Name}}}
	c.Spec.HubAcceptsClient = true
	if d.often(90) {
		c.Labels[clusterv1beta2.ClusterSetLabel] = f.setOf(d)
	}
	for _, a := range labelled {
		if d.often(70) {
			c.Labels[a.key] = one(d, a.values...)
		}
	}
	for _, a := range claimed {
		if d.often(70) {
			c.Status.ClusterClaims = append(c.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: a.key, Value: one(d, a.values...)})
		}
	}
	for range one(d, 0, 0, 0, 0, 0, 0, 1, 2) {
		c.Spec.Taints = append(c.Spec.Taints, taint(d, now))
	}
	describe(d, c)
	addResources(d, &c.Status)
	if d.often(5) {
		c.Finalizers = []string{"difftest.spokewire.dev/keep"}
		c.DeletionTimestamp = &metav1.Time{Time: now}
	}
	return c
}

// describe adds what only expressions read.
func describe(d draw, c *clusterv1.ManagedCluster) {
	c.Status.Conditions = []metav1.Condition{} // required, and may be empty
	if d.often(50) {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: one(d, metav1.ConditionTrue, metav1.ConditionFalse),
			Reason: "Drawn", LastTransitionTime: metav1.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		})
	}
	c.Status.Version.Kubernetes = one(d, "", "v1.35.9", "v1.36.2", "v1.37.2", "1.38.0-rc.1")
	if d.often(80) {
		c.Annotations = map[string]string{annotationSizes: one(d, `{"gpu": 2, "names": ["a"]}`, `{"gpu": 1.5, "names": []}`, `{"nothing": null, "gpu": 0}`, `[1]`, `{`)}
	}
	if d.often(50) {
		c.Spec.ManagedClusterClientConfigs = []clusterv1.ClientConfig{{URL: one(d, "https://a.example.com:6443", "https://b.example.com"), CABundle: []byte("ca")}}
	}
}

// setOf draws the set for a cluster's label, mostly one that goes by labels.
func (f *Fleet) setOf(d draw) string {
	if f.Shared && d.often(60) {
		return "default"
	}
	var byLabel []string
	for _, s := range f.Sets {
		if s.Spec.ClusterSelector.SelectorType == clusterv1beta2.ExclusiveClusterSetLabel {
			byLabel = append(byLabel, s.Name)
		}
	}
	if len(byLabel) > 0 && d.often(90) {
		return one(d, byLabel...)
	}
	return one(d, f.setNames()...)
}

func taint(d draw, now time.Time) clusterv1.Taint {
	t := clusterv1.Taint{Key: one(d, taintKeys...), Value: one(d, "", "a", "b"), Effect: one(d, taintEffects...)}
	if d.often(80) {
		t.TimeAdded = metav1.NewTime(now.Add(-time.Duration(d.between(0, 48)) * time.Hour).Truncate(time.Second))
	}
	return t
}

// addResources draws from few amounts, so that clusters are often equal, and
// writes some of them in more than one way. Many lie within one point of the
// middle between the least and the most, where rounding decides.
func addResources(d draw, s *clusterv1.ManagedClusterStatus) {
	amounts := map[clusterv1.ResourceName][]string{
		clusterv1.ResourceCPU:    {"0", "0", "64", "64", "31.7", "31900m", "32", "3.21e1", "32.3", "1500m", "1.5"},
		clusterv1.ResourceMemory: {"0", "0", "1Ti", "1Ti", "509Gi", "511Gi", "0.5Ti", "549755813888", "515Gi", "20G", "512Mi"},
	}
	for _, name := range []clusterv1.ResourceName{clusterv1.ResourceCPU, clusterv1.ResourceMemory} {
		quantity := resource.MustParse(one(d, amounts[name]...))
		if d.often(90) {
			s.Allocatable = with(s.Allocatable, name, quantity)
		}
		if d.often(92) {
			s.Capacity = with(s.Capacity, name, quantity)
		}
	}
}

func with(list clusterv1.ResourceList, name clusterv1.ResourceName, q resource.Quantity) clusterv1.ResourceList {
	if list == nil {
		list = clusterv1.ResourceList{}
	}
	list[name] = q
	return list
}
