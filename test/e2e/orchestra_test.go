package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/internal/hub/fleettest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// orchestra is a stack on a hub whose three clusters are real API servers,
// with OCM's work controller and agents.
type orchestra struct {
	stack  *stack.Stack
	fleet  *fleettest.Fleet
	hub    hubClients
	bus    *jetstream.Bus
	works  workclient.Interface
	spokes map[string]kubernetes.Interface
	log    *happenings
}

// patience is how long to wait for OCM's controllers and agents.
const patience = 3 * time.Minute

// orchestraNamespace is where the workloads and their Placements are.
const orchestraNamespace = "default"

func startOrchestra(t *testing.T) *orchestra {
	t.Helper()
	ctx, f := t.Context(), fleettest.Start(t, 3)
	must(t, stack.CreateFleet(ctx, f.Hub.Config, len(f.Spokes)))
	must(t, stack.GrantBridge(ctx, f.Hub.Config, "bridge"))
	bridge, err := f.Hub.User("bridge")
	must(t, err)
	var ocm errgroup.Group
	ocm.Go(func() error { return f.StartWork(ctx) })
	s := startStack(t, func(o *stack.Options) { o.Hub, o.BridgeKubeconfig = f.Hub.Kubeconfig, bridge })
	must(t, ocm.Wait())
	o := &orchestra{
		stack: s, fleet: f, hub: hubOf(t, s), bus: operator(t, s), works: workclient.NewForConfigOrDie(f.Hub.Config),
		spokes: map[string]kubernetes.Interface{}, log: &happenings{},
	}
	for _, spoke := range f.Spokes {
		must(t, fleettest.EnsureNamespace(ctx, spoke, orchestraNamespace))
		o.spokes[spoke.Name] = kubernetes.NewForConfigOrDie(spoke.Config)
		o.log.follow(t, spoke.Name, o.spokes[spoke.Name])
	}
	return o
}

// scorer makes a score of a metric, both of that name.
func (o *orchestra) scorer(t *testing.T, name string) {
	t.Helper()
	apply(t, o.stack, fmt.Sprintf("apiVersion: spokewire.dev/v1alpha1\nkind: Scorer\nmetadata: {name: %s}\nspec: {cel: 'linear(metric(\"%s\"), 0, 100)', validFor: 30m}", name, name))
}

// measure publishes the metric of spoke-1, spoke-2 and so on.
func (o *orchestra) measure(t *testing.T, metric string, values ...float64) {
	t.Helper()
	for i, value := range values {
		cluster := fmt.Sprintf("spoke-%d", i+1)
		e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, metric), &schemas.Metrics{Samples: []schemas.Sample{{Name: metric, Value: value}}})
		must(t, err)
		_, err = o.bus.Publish(t.Context(), events.MetricSubject(cluster, metric), e)
		must(t, err)
	}
}

// becomesReady does what a spoke's kubelet would: the Deployment, once it is
// there, has all of its replicas.
func (o *orchestra) becomesReady(t *testing.T, cluster, name string) {
	t.Helper()
	o.sees(t, appeared, cluster, name)
	deployments := o.spokes[cluster].AppsV1().Deployments(orchestraNamespace)
	must(t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		d, err := deployments.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		d.Status.ObservedGeneration, d.Status.Replicas, d.Status.ReadyReplicas = d.Generation, *d.Spec.Replicas, *d.Spec.Replicas
		_, err = deployments.UpdateStatus(t.Context(), d, metav1.UpdateOptions{})
		return err
	}))
	o.sees(t, ready, cluster, name)
}

// rolledOut waits until OCM says so.
func (o *orchestra) rolledOut(t *testing.T, name string) {
	t.Helper()
	testwait.Within(t, patience, func() string {
		set, err := o.works.WorkV1alpha1().ManifestWorkReplicaSets(orchestraNamespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if !meta.IsStatusConditionTrue(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut) {
			return fmt.Sprintf("%s is not rolled out: %+v", name, set.Status)
		}
		return ""
	})
}

// hasNotArrived waits until OCM says of a cluster that the workload is there
// and is not ready: until then these clusters keep theirs.
func (o *orchestra) hasNotArrived(t *testing.T, cluster, name string, keep ...string) {
	t.Helper()
	testwait.Within(t, patience, func() string {
		conditions := o.workOn(t, cluster, name).Status.Conditions
		if !meta.IsStatusConditionTrue(conditions, workv1.WorkAvailable) || !meta.IsStatusConditionTrue(conditions, workv1.WorkProgressing) {
			return fmt.Sprintf("the work of %s on %s: %+v", name, cluster, conditions)
		}
		return ""
	})
	if got := o.worksOf(t, name); !slices.Equal(got, keep) {
		t.Errorf("while it is not ready on %s, works are on %v, want %v: %s", cluster, got, keep, o.log.of(name))
	}
}

// workOn is the work of the set on a cluster, empty where OCM has made none.
func (o *orchestra) workOn(t *testing.T, cluster, name string) *workv1.ManifestWork {
	t.Helper()
	w, err := o.works.WorkV1().ManifestWorks(cluster).Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &workv1.ManifestWork{}
	}
	must(t, err)
	return w
}

// progressing is whether a cluster still makes the workload ready, and since
// when.
func (o *orchestra) progressing(t *testing.T, cluster, name string) metav1.Condition {
	t.Helper()
	if c := meta.FindStatusCondition(o.workOn(t, cluster, name).Status.Conditions, workv1.WorkProgressing); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// worksOf are the clusters for which OCM has made works of the set, but for
// those that it deletes.
func (o *orchestra) worksOf(t *testing.T, name string) []string {
	t.Helper()
	list, err := o.works.WorkV1().ManifestWorks("").List(t.Context(), metav1.ListOptions{LabelSelector: workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey + "=" + orchestraNamespace + "." + name})
	must(t, err)
	var clusters []string
	for _, w := range list.Items {
		if w.DeletionTimestamp == nil {
			clusters = append(clusters, w.Namespace)
		}
	}
	slices.Sort(clusters)
	return clusters
}

// happenings are what was seen on the spokes, in order.
type happenings struct {
	mu  sync.Mutex
	all []happening
}

type happening struct {
	what, cluster, workload string
	at                      time.Time
}

// What happens to a workload.
const (
	appeared = "created"
	ready    = "ready"
	removed  = "removed"
)

func (h *happenings) add(what, cluster string, object any) {
	d, ok := object.(*appsv1.Deployment)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, happening{what, cluster, d.Name, time.Now()})
}

// follow notes what happens on a cluster until the test ends.
func (h *happenings) follow(t *testing.T, cluster string, core kubernetes.Interface) {
	t.Helper()
	informer := informers.NewSharedInformerFactory(core, 0).Apps().V1().Deployments().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { h.add(appeared, cluster, o) },
		UpdateFunc: func(_, o any) {
			if d, ok := o.(*appsv1.Deployment); ok && d.Status.ReadyReplicas > 0 {
				h.add(ready, cluster, o)
			}
		},
		DeleteFunc: func(o any) { h.add(removed, cluster, o) },
	})
	must(t, err)
	go informer.RunWithContext(t.Context())
	testwait.Within(t, time.Minute, func() string {
		if !informer.HasSynced() {
			return "the informer of " + cluster + " is not in step"
		}
		return ""
	})
}

// first is when something first happened, zero for never.
func (h *happenings) first(what, cluster, workload string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.all {
		if x.what == what && x.cluster == cluster && x.workload == workload {
			return x.at
		}
	}
	return time.Time{}
}

func (h *happenings) of(workload string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, x := range h.all {
		if x.workload == workload {
			out = append(out, fmt.Sprintf("%s %s on %s", x.at.Format("05.000"), x.what, x.cluster))
		}
	}
	return strings.Join(out, ", ")
}

// sees waits for something to happen, and returns when it did.
func (o *orchestra) sees(t *testing.T, what, cluster, workload string) time.Time {
	t.Helper()
	var at time.Time
	testwait.Within(t, patience, func() string {
		if at = o.log.first(what, cluster, workload); at.IsZero() {
			return fmt.Sprintf("%s was not %s on %s; works are on %v; seen: %s", workload, what, cluster, o.worksOf(t, workload), o.log.of(workload))
		}
		return ""
	})
	return at
}

// inOrder fails unless these happened one after the other.
func (o *orchestra) inOrder(t *testing.T, workload string, steps ...[2]string) {
	t.Helper()
	var before time.Time
	for _, step := range steps {
		at := o.log.first(step[0], step[1], workload)
		if !at.After(before) {
			t.Errorf("%s was not %s on %s, or too early: %s", workload, step[0], step[1], o.log.of(workload))
		}
		before = at
	}
}

// documented returns the YAML objects of a page of the documentation, by kind.
func documented(t *testing.T, page string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	must(t, err)
	out := map[string][]byte{}
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		for _, object := range strings.Split(b[2], "---\n") {
			var head metav1.TypeMeta
			if b[1] == "yaml" && yaml.Unmarshal([]byte(object), &head) == nil && head.Kind != "" {
				out[head.Kind] = []byte(object)
			}
		}
	}
	return out
}
