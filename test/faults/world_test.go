package faults

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/manifest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testlog"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// load is what every scenario looks at: two of three clusters by one score.
// A cluster without one is not selected.
var load = fold.Rule{
	Scorer: "load", Metric: "load_free", Low: 0, High: 1000,
	Placement: "default/load", Select: 2, Clusters: []string{"spoke-1", "spoke-2", "spoke-3"}, ValidFor: 30 * time.Minute,
}

// brief is the same with scores that hold for two seconds.
var brief = fold.Rule{
	Scorer: "brief", Metric: "brief_free", Low: 0, High: 1000,
	Placement: "default/brief", Select: 2, Clusters: load.Clusters, ValidFor: 2 * time.Second,
}

const manifests = `
apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: load}
spec: {cel: 'linear(metric("load_free"), 0, 1000)', validFor: 30m}
---
apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: brief}
spec: {cel: 'linear(metric("brief_free"), 0, 1000)', validFor: 2s}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: load
  namespace: default
  annotations:
    cluster.open-cluster-management.io/experimental-scheduling-disable: "true"
    spokewire.dev/stale-policy: exclude
spec:
  numberOfClusters: 2
  prioritizerPolicy:
    mode: Exact
    configurations: [{weight: 1, scoreCoordinate: {type: AddOn, addOn: {resourceName: load, scoreName: load}}}]
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: brief
  namespace: default
  annotations:
    cluster.open-cluster-management.io/experimental-scheduling-disable: "true"
    spokewire.dev/stale-policy: exclude
spec:
  numberOfClusters: 2
  prioritizerPolicy:
    mode: Exact
    configurations: [{weight: 1, scoreCoordinate: {type: AddOn, addOn: {resourceName: brief, scoreName: brief}}}]
`

// workload is the source that the stack's collectors publish.
const workload = "workload"

// world is a running stack and all that can be done to it.
type world struct {
	stack *stack.Stack
	bus   *jetstream.Bus // as operator
	ocm   clusterclient.Interface
	core  kubernetes.Interface
	api   *apiProxy
	links map[string]*eventstest.Link
	// bad is what could not be read, of all rounds: a letter that got lost with
	// the end of a stream is written again when its event is met again.
	bad []fold.Bad
}

// startWorld runs a stack until the test ends. Its logs are printed if the
// test fails.
func startWorld(t *testing.T, change func(*stack.Options)) *world {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{links: map[string]*eventstest.Link{}}
	o := stack.DefaultOptions()
	o.Executable, o.BinDir, o.DataDir = executable, hubtest.BinDir(), t.TempDir()
	o.Spokes, o.Interval = len(load.Clusters), 200*time.Millisecond
	o.Log = slog.New(slog.DiscardHandler)
	o.Progress = func(string) {}
	o.Detours.Hub = func(kubeconfig string) (string, error) {
		w.api = startAPIProxy(t, kubeconfig)
		return w.api.kubeconfig, nil
	}
	o.Detours.Spoke = func(cluster, address string) string {
		w.links[cluster] = eventstest.NewLink(t, address)
		return strings.TrimPrefix(w.links[cluster].URL(), "nats://")
	}
	change(&o)
	smallDisk(t, filepath.Join(o.DataDir, "nats", "store"), "512m")
	for _, cluster := range load.Clusters {
		smallDisk(t, filepath.Join(o.DataDir, "outbox", cluster), "16m")
	}
	if w.stack, err = stack.Up(t.Context(), o); err != nil {
		testlog.Print(t, filepath.Join(o.DataDir, "logs"))
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.stack.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			testlog.Print(t, filepath.Join(o.DataDir, "logs"))
		}
	})
	w.connect(t)
	w.apply(t)
	return w
}

func (w *world) connect(t *testing.T) {
	t.Helper()
	url, err := w.stack.OperatorURL()
	if err != nil {
		t.Fatal(err)
	}
	if w.bus, err = jetstream.Connect(t.Context(), jetstream.Options{URL: url, Name: "faults"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.bus.Close)
	config, err := clientcmd.BuildConfigFromFlags("", w.stack.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst, config.Timeout = 1000, 2000, 5*time.Second
	w.ocm, w.core = clusterclient.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
}

// apply asks for the rules' Scorers and Placements over the bus, and waits
// until the hub has the Placements.
func (w *world) apply(t *testing.T) {
	t.Helper()
	objects, err := manifest.Parse([]byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		e, err := events.New(o.Kind.EventType, events.ServiceSource("faults"), o.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.bus.Publish(t.Context(), o.Kind.Subject(o.Namespace, o.Name), e); err != nil {
			t.Fatal(err)
		}
	}
	left := testwait.Until(t.Context(), time.Minute, func() string {
		list, err := w.ocm.ClusterV1beta1().Placements("default").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) < 2 {
			return fmt.Sprintf("the hub has not got both Placements (%v)", err)
		}
		return ""
	})
	if left != "" {
		t.Fatal(left)
	}
}

// services are the processes of the hub services, replicas too.
func (w *world) services() []string {
	return slices.DeleteFunc(w.stack.Processes(), func(name string) bool {
		return !slices.ContainsFunc(access.Services(), func(service string) bool { return strings.HasPrefix(name, service) })
	})
}

// wait lets real time pass: it spaces faults, no check depends on it.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
