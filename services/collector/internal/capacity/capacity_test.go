package capacity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/spokewire/spokewire/internal/sample"
)

const gpu corev1.ResourceName = "nvidia.com/gpu"

// list makes a resource list of pairs.
func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func node(name string, edit func(*corev1.Node), allocatable ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	n.Status.Allocatable = list(append(allocatable, "pods", "110")...)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if edit != nil {
		edit(n)
	}
	return n
}

func container(requests ...string) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(requests...)}}
}

func pod(node string, edit func(*corev1.Pod), requests ...string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Spec.NodeName = node
	p.Spec.Containers = []corev1.Container{container(requests...)}
	p.Status.Phase = corev1.PodRunning
	if edit != nil {
		edit(p)
	}
	return p
}

func TestPodRequests(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	sidecar := container("cpu", "300m")
	sidecar.RestartPolicy = &always
	for name, tt := range map[string]struct {
		edit func(*corev1.Pod)
		want Amounts
	}{
		"containers add up": {
			func(p *corev1.Pod) {
				p.Spec.Containers = append(p.Spec.Containers, container("cpu", "500m", "memory", "1Gi"))
			},
			Amounts{"cpu": 1500, "memory": 1 << 30, "pods": 1},
		},
		"an init container needs less": {
			func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{container("cpu", "500m")} },
			Amounts{"cpu": 1000, "pods": 1},
		},
		"an init container needs more": {
			func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{container("cpu", "3", string(gpu), "1"), container("cpu", "2")}
			},
			Amounts{"cpu": 3000, gpu: 1, "pods": 1},
		},
		"a sidecar runs beside": {
			func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{sidecar} },
			Amounts{"cpu": 1300, "pods": 1},
		},
		"a sidecar runs beside a later init container": {
			func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{sidecar, container("cpu", "2")} },
			Amounts{"cpu": 2300, "pods": 1},
		},
		"overhead": {
			func(p *corev1.Pod) { p.Spec.Overhead = list("cpu", "250m", "memory", "120Mi") },
			Amounts{"cpu": 1250, "memory": 120 << 20, "pods": 1},
		},
		"requests of the pod as a whole": {
			func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "4")} },
			Amounts{"cpu": 4000, "pods": 1},
		},
		"a pod that shrinks": {
			func(p *corev1.Pod) {
				p.Spec.Containers[0].Name = "c"
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResources: list("cpu", "1500m")}}
			},
			Amounts{"cpu": 1500, "pods": 1},
		},
	} {
		if diff := cmp.Diff(tt.want, PodOf(pod("n", tt.edit, "cpu", "1")).Requests); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNode(t *testing.T) {
	t.Parallel()
	taint := func(key string, effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}} }
	}
	label := func(pairs ...string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			for i := 0; i < len(pairs); i += 2 {
				n.Labels[pairs[i]] = pairs[i+1]
			}
		}
	}
	for name, tt := range map[string]struct {
		edit        func(*corev1.Node)
		ready, open bool
		pool        string
	}{
		"good":                       {nil, true, true, NoPool},
		"cordoned":                   {func(n *corev1.Node) { n.Spec.Unschedulable = true }, true, false, NoPool},
		"not ready":                  {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, false, false, NoPool},
		"unknown":                    {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, false, false, NoPool},
		"says nothing":               {func(n *corev1.Node) { n.Status.Conditions = nil }, false, false, NoPool},
		"kept for GPUs":              {taint("nvidia.com/gpu", corev1.TaintEffectNoSchedule), true, true, NoPool},
		"control plane":              {taint("node-role.kubernetes.io/control-plane", corev1.TaintEffectNoSchedule), true, false, NoPool},
		"under pressure":             {taint("node.kubernetes.io/memory-pressure", corev1.TaintEffectNoSchedule), true, false, NoPool},
		"rather not":                 {taint("node.kubernetes.io/x", corev1.TaintEffectPreferNoSchedule), true, true, NoPool},
		"about to be deleted":        {taint("ToBeDeletedByClusterAutoscaler", corev1.TaintEffectNoSchedule), true, false, NoPool},
		"disrupted by Karpenter":     {taint("karpenter.sh/disrupted", corev1.TaintEffectNoSchedule), true, false, NoPool},
		"pool of GKE":                {label("cloud.google.com/gke-nodepool", "a100"), true, true, "a100"},
		"pools of two, first counts": {label("karpenter.sh/nodepool", "k", "eks.amazonaws.com/nodegroup", "e"), true, true, "e"},
	} {
		got := NodeOf(node("n", tt.edit, "cpu", "1"), PoolLabels())
		if got.Ready != tt.ready || got.Open != tt.open || got.Pool != tt.pool {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// count counts what the API has.
func count(nodes []*corev1.Node, pods []*corev1.Pod) Count {
	var n []*Node
	for _, one := range nodes {
		n = append(n, NodeOf(one, []string{"pool"}))
	}
	var p []*Pod
	for _, one := range pods {
		p = append(p, PodOf(one))
	}
	return CountAll(n, p)
}

func TestCount(t *testing.T) {
	t.Parallel()
	inPool := func(n *corev1.Node) { n.Labels["pool"] = "gpu" }
	cordoned := func(n *corev1.Node) { n.Labels["pool"], n.Spec.Unschedulable = "gpu", true }
	ended := func(phase corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = phase } }
	pending := func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	gated := func(p *corev1.Pod) {
		pending(p)
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x"}}
	}
	going := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	got := count(
		[]*corev1.Node{
			node("a", inPool, "cpu", "8", string(gpu), "4"),
			node("b", inPool, "cpu", "8", string(gpu), "8"),
			node("c", cordoned, "cpu", "8", string(gpu), "16"),
			node("d", nil, "cpu", "2"),
		},
		[]*corev1.Pod{
			pod("a", nil, "cpu", "1", string(gpu), "1"),
			pod("a", pending, "cpu", "500m"), // it has its node, and starts
			pod("a", going, "cpu", "500m"),   // it holds what it has until it is gone
			pod("a", ended(corev1.PodSucceeded), "cpu", "8"),
			pod("b", ended(corev1.PodFailed), "cpu", "8"),
			pod("b", nil, string(gpu), "5"),
			pod("c", nil, "cpu", "1", string(gpu), "1"),
			pod("d", nil, "cpu", "3"), // more than there is
			pod("gone", nil, "cpu", "7"),
			pod("", pending, "cpu", "2", string(gpu), "8"),
			pod("", gated, "cpu", "100"),
			pod("", ended(corev1.PodFailed), "cpu", "100"),
		},
	)
	want := Count{
		Cluster: Totals{
			Nodes: 4, ReadyNodes: 4, OpenNodes: 3,
			Allocatable: Amounts{"cpu": 26000, gpu: 28, "pods": 440},
			Requested:   Amounts{"cpu": 6000, gpu: 7, "pods": 6},
			Free:        Amounts{"cpu": 14000, gpu: 6, "pods": 325},
			LargestFree: Amounts{"cpu": 8000, gpu: 3, "pods": 109},
		},
		Pools: map[string]*Totals{
			"gpu": {
				Nodes: 3, ReadyNodes: 3, OpenNodes: 2,
				Allocatable: Amounts{"cpu": 24000, gpu: 28, "pods": 330},
				Requested:   Amounts{"cpu": 3000, gpu: 7, "pods": 5},
				Free:        Amounts{"cpu": 14000, gpu: 6, "pods": 216},
				LargestFree: Amounts{"cpu": 8000, gpu: 3, "pods": 109},
			},
			NoPool: {
				Nodes: 1, ReadyNodes: 1, OpenNodes: 1,
				Allocatable: Amounts{"cpu": 2000, "pods": 110},
				Requested:   Amounts{"cpu": 3000, "pods": 1},
				Free:        Amounts{"cpu": 0, "pods": 109},
				LargestFree: Amounts{"cpu": 0, "pods": 109},
			},
		},
		PendingPods: 1, GatedPods: 1, Pending: Amounts{"cpu": 2000, gpu: 8, "pods": 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	selection := (&sample.Rules{}).Start()
	count([]*corev1.Node{node("a", nil, "cpu", "2500m", "memory", "1Gi")}, []*corev1.Pod{pod("a", nil, "cpu", "100m")}).Select(selection)
	snapshot, err := selection.Snapshot()
	if err != nil || len(snapshot.Left) > 0 {
		t.Fatalf("%v, left out %v", err, snapshot.Left)
	}
	got, units := map[string]float64{}, map[string]string{}
	for _, s := range snapshot.Samples {
		got[s.Series()], units[s.Labels["resource"]] = s.Value, s.Unit
	}
	for series, want := range map[string]float64{
		`cluster_nodes`:                                           1,
		`cluster_nodes_open`:                                      1,
		`cluster_pods_pending`:                                    0,
		`cluster_resource_allocatable{resource="cpu"}`:            2.5,
		`cluster_resource_free{resource="cpu"}`:                   2.4,
		`cluster_resource_pending{resource="memory"}`:             0,
		`cluster_resource_requested{resource="memory"}`:           0,
		`pool_resource_largest_free{pool="none",resource="pods"}`: 109,
	} {
		if value, ok := got[series]; !ok || value != want {
			t.Errorf("%s is %v (%t), want %v", series, value, ok, want)
		}
	}
	if units["cpu"] != "cores" || units["memory"] != "bytes" || units["pods"] != "" {
		t.Errorf("units are %v", units)
	}
}
