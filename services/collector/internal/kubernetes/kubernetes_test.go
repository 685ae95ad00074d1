package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// The package's tests share one API server; each has nodes of a label of its
// own.
var theServer *hubtest.Hub

func TestMain(m *testing.M) { os.Exit(hubtest.Main(m, &theServer)) }

const user = "collector-under-test"

// granted is a user with the rights of the shipped ClusterRole, and no
// others.
var granted = sync.OnceValues(func() (hubtest.User, error) {
	u, err := theServer.AddUser(user)
	if err != nil {
		return u, err
	}
	files, err := k8s.Collector()
	if err != nil {
		return u, err
	}
	text, err := fs.ReadFile(files, "clusterrole.yaml")
	if err != nil {
		return u, err
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		return u, err
	}
	rbac := admin().RbacV1()
	_, err = rbac.ClusterRoles().Create(context.Background(), &role, metav1.CreateOptions{})
	if err != nil {
		return u, err
	}
	_, err = rbac.ClusterRoleBindings().Create(context.Background(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	return u, err
})

func admin() *client.Clientset { return client.NewForConfigOrDie(theServer.Admin()) }

// source counts the nodes that have test's label.
func source(test string) config.Source {
	s := config.Source{Name: "k", Kubernetes: &config.Kubernetes{Nodes: "test=" + test, PoolLabels: []string{"pool"}}}
	s.Default()
	return s
}

// run runs a Source until the test ends.
func run(t *testing.T, s *Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returns %v", err)
		}
	})
}

func kubeconfig(t *testing.T, u hubtest.User) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, u.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// world makes objects for one test.
type world struct {
	*testing.T
	name string
	api  *client.Clientset
}

func newWorld(t *testing.T, name string) world {
	t.Helper()
	w := world{T: t, name: name, api: admin()}
	_, err := w.api.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	w.must(err)
	return w
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w world) node(name, pool string, allocatable ...string) {
	w.Helper()
	nodes := w.api.CoreV1().Nodes()
	n, err := nodes.Create(w.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: w.name + "-" + name, Labels: map[string]string{"test": w.name, "pool": pool},
	}}, metav1.CreateOptions{})
	w.must(err)
	// Admission taints a new node as not ready; a controller would take that
	// off.
	n.Spec.Taints = nil
	n, err = nodes.Update(w.Context(), n, metav1.UpdateOptions{})
	w.must(err)
	n.Status.Allocatable = list(append(allocatable, "pods", "110")...)
	n.Status.Capacity = n.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_, err = nodes.UpdateStatus(w.Context(), n, metav1.UpdateOptions{})
	w.must(err)
}

func (w world) cordon(name string) {
	w.Helper()
	n, err := w.api.CoreV1().Nodes().Get(w.Context(), w.name+"-"+name, metav1.GetOptions{})
	w.must(err)
	n.Spec.Unschedulable = true
	_, err = w.api.CoreV1().Nodes().Update(w.Context(), n, metav1.UpdateOptions{})
	w.must(err)
}

func (w world) pod(name, node string, requests ...string) {
	w.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if node != "" {
		p.Spec.NodeName = w.name + "-" + node
	}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: list(requests...), Limits: extended(requests)}}}
	_, err := w.api.CoreV1().Pods(w.name).Create(w.Context(), p, metav1.CreateOptions{})
	w.must(err)
}

// extended are the requests of extended resources, whose limits are the same.
func extended(requests []string) corev1.ResourceList {
	l := list(requests...)
	for name := range l {
		if !strings.Contains(string(name), "/") {
			delete(l, name)
		}
	}
	return l
}

func (w world) phase(name string, phase corev1.PodPhase) {
	w.Helper()
	p, err := w.api.CoreV1().Pods(w.name).Get(w.Context(), name, metav1.GetOptions{})
	w.must(err)
	p.Status.Phase = phase
	_, err = w.api.CoreV1().Pods(w.name).UpdateStatus(w.Context(), p, metav1.UpdateOptions{})
	w.must(err)
}

// expect waits for these values of a source's snapshots.
func (w world) expect(s *Source, want map[string]float64) {
	w.Helper()
	testwait.Within(w.T, 30*time.Second, func() string {
		snapshot, err := s.Scrape(w.Context())
		if err != nil {
			return err.Error()
		}
		got := map[string]float64{}
		for _, one := range snapshot.Samples {
			got[one.Series()] = one.Value
		}
		var wrong []string
		for series, value := range want {
			if v, ok := got[series]; !ok || v != value {
				wrong = append(wrong, fmt.Sprintf("%s is %v (%t), want %v", series, v, ok, value))
			}
		}
		slices.Sort(wrong)
		return strings.Join(wrong, "\n")
	})
}

// The whole way, with the shipped rights alone.
func TestCountsARealCluster(t *testing.T) {
	t.Parallel()
	u, err := granted()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "count")
	w.node("a", "gpu", "cpu", "8", "memory", "32Gi", "nvidia.com/gpu", "8")
	w.node("b", "", "cpu", "4", "memory", "16Gi")
	w.pod("one", "a", "cpu", "1500m", "memory", "2Gi", "nvidia.com/gpu", "3")
	w.pod("two", "b", "cpu", "1")
	w.phase("one", corev1.PodRunning)
	c := source(w.name)
	c.Kubernetes.Kubeconfig = kubeconfig(t, u)
	s, err := New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scrape(t.Context()); failure.Of(err) != failure.Unreachable {
		t.Errorf("before anything was read the error is %v", err)
	}
	run(t, s)
	w.expect(s, map[string]float64{
		`cluster_nodes`: 2, `cluster_nodes_open`: 2,
		`cluster_resource_allocatable{resource="cpu"}`:             12,
		`cluster_resource_requested{resource="cpu"}`:               2.5,
		`cluster_resource_free{resource="cpu"}`:                    9.5,
		`cluster_resource_largest_free{resource="memory"}`:         30 << 30,
		`cluster_resource_free{resource="nvidia.com/gpu"}`:         5,
		`pool_resource_free{pool="gpu",resource="nvidia.com/gpu"}`: 5,
		`pool_resource_free{pool="none",resource="cpu"}`:           3,
		`pool_resource_requested{pool="gpu",resource="pods"}`:      1,
	})
	// Pods end, come and wait; a node is cordoned.
	w.phase("one", corev1.PodSucceeded)
	w.pod("three", "", "cpu", "2", "nvidia.com/gpu", "4")
	w.cordon("b")
	w.expect(s, map[string]float64{
		`cluster_nodes`: 2, `cluster_nodes_ready`: 2, `cluster_nodes_open`: 1,
		`cluster_resource_requested{resource="nvidia.com/gpu"}`:  0,
		`cluster_resource_free{resource="cpu"}`:                  8,
		`cluster_resource_requested{resource="cpu"}`:             1,
		`cluster_resource_pending{resource="nvidia.com/gpu"}`:    4,
		`cluster_pods_pending`:                                   1,
		`pool_resource_free{pool="none",resource="cpu"}`:         0,
		`pool_resource_requested{pool="none",resource="cpu"}`:    1,
		`pool_resource_largest_free{pool="gpu",resource="cpu"}`:  8,
		`pool_resource_allocatable{pool="none",resource="pods"}`: 110,
	})
}

func TestWithoutRights(t *testing.T) {
	t.Parallel()
	u, err := theServer.AddUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	c := source("none")
	c.Kubernetes.Kubeconfig = kubeconfig(t, u)
	s, err := New(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(t, s)
	testwait.Within(t, 30*time.Second, func() string {
		if _, err := s.Scrape(t.Context()); failure.Of(err) != failure.Refused || !strings.Contains(err.Error(), "list and watch nodes") {
			return fmt.Sprintf("the error is %v (%s)", err, failure.Of(err))
		}
		return ""
	})
}

// link is a connection that can be cut.
type link struct {
	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func (l *link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the link is cut")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		l.conns = append(l.conns, conn)
	}
	return conn, err
}

func (l *link) set(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.conns = nil
}

// What was seen last is not shown as if it were seen now.
func TestCutIsNotHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "cut")
	w.node("a", "", "cpu", "8")
	c := rest.CopyConfig(theServer.Admin())
	l := &link{}
	c.Dial = l.dial
	configured := source(w.name)
	rules, err := configured.Rules()
	w.must(err)
	s, err := newSource(c, configured, rules, slog.New(slog.DiscardHandler))
	w.must(err)
	var ahead time.Duration
	s.now = func() time.Time { return time.Now().Add(ahead) }
	run(t, s)
	w.expect(s, map[string]float64{`cluster_resource_free{resource="cpu"}`: 8})
	l.set(true)
	testwait.Within(t, 30*time.Second, func() string {
		// A short gap is none; a long one is.
		ahead = 0
		if _, err := s.Scrape(t.Context()); err != nil {
			return "at once: " + err.Error()
		}
		ahead = grace
		if _, err := s.Scrape(t.Context()); failure.Of(err) != failure.Unreachable || !strings.Contains(err.Error(), "the link is cut") {
			return fmt.Sprintf("after the grace the error is %v (%s)", err, failure.Of(err))
		}
		return ""
	})
	ahead = grace
	w.node("b", "", "cpu", "2")
	l.set(false)
	w.expect(s, map[string]float64{`cluster_resource_free{resource="cpu"}`: 10})
}

func TestNewNamesTheField(t *testing.T) {
	t.Parallel()
	c := source("none")
	c.Kubernetes.Kubeconfig = filepath.Join(t.TempDir(), "none")
	if _, err := New(c, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "kubernetes.kubeconfig cannot be used") {
		t.Errorf("error is %v", err)
	}
}
