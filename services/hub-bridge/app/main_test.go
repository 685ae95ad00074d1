package app_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
)

// The package's tests share one API server; each has namespaces, clusters
// and a bus of its own.
var theHub *hubtest.Hub

func TestMain(m *testing.M) { os.Exit(hubtest.Main(m, &theHub)) }

// bridgeUser is who the bridge is on the hub. It has the rights of the
// shipped ClusterRole and Role, and no others.
const bridgeUser = "hub-bridge-under-test"

var grant = sync.OnceValues(func() (*rest.Config, error) {
	ctx := context.Background()
	user, err := theHub.AddUser(bridgeUser)
	if err != nil {
		return nil, err
	}
	var role rbacv1.ClusterRole
	if err := manifest("clusterrole.yaml", &role); err != nil {
		return nil, err
	}
	rbac := kubernetes.NewForConfigOrDie(theHub.Admin()).RbacV1()
	if _, err := rbac.ClusterRoles().Create(ctx, &role, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: bridgeUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: bridgeUser}},
	}, metav1.CreateOptions{})
	return user.Config, err
})

// grantLease gives the bridge its Role in a namespace.
func grantLease(t testing.TB, namespace string) {
	t.Helper()
	var role rbacv1.Role
	if err := manifest("role.yaml", &role); err != nil {
		t.Fatal(err)
	}
	grantIn(t, namespace, bridgeUser, role)
}

// grantIn gives user the Role in a namespace.
func grantIn(t testing.TB, namespace, user string, role rbacv1.Role) {
	t.Helper()
	role.Namespace = namespace
	rbac := kubernetes.NewForConfigOrDie(theHub.Admin()).RbacV1()
	if _, err := rbac.Roles(namespace).Create(t.Context(), &role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := rbac.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Namespace: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func manifest(name string, into any) error {
	files, err := k8s.HubBridge()
	if err != nil {
		return err
	}
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, into)
}

func newNamespace(t testing.TB, name string) {
	t.Helper()
	core := kubernetes.NewForConfigOrDie(theHub.Admin()).CoreV1()
	_, err := core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func admin() clusterclient.Interface { return clusterclient.NewForConfigOrDie(theHub.Admin()) }

// calls stands between a bridge and the API server. It notes the writes of
// OCM's objects and lets a test answer in the API server's stead.
type calls struct {
	mu        sync.Mutex
	writes    []string
	forbidden []string // what the ClusterRole does not allow
	answer    func(*http.Request) *http.Response
}

// via is the way of one client's calls.
type via struct {
	*calls
	next http.RoundTripper
}

func (c via) RoundTrip(r *http.Request) (*http.Response, error) {
	write := r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/cluster.open-cluster-management.io/") && r.URL.Query().Get("dryRun") == ""
	c.mu.Lock()
	if write {
		c.writes = append(c.writes, r.Method+" "+r.URL.Path)
	}
	var answer *http.Response
	if c.answer != nil {
		answer = c.answer(r)
	}
	c.mu.Unlock()
	if answer != nil {
		return answer, nil
	}
	response, err := c.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusForbidden {
		c.mu.Lock()
		c.forbidden = append(c.forbidden, r.Method+" "+r.URL.Path)
		c.mu.Unlock()
	}
	return response, err
}

// take returns the writes since the last call.
func (c *calls) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	writes := c.writes
	c.writes = nil
	return writes
}

// answerWith answers every call for which fn returns something.
func (c *calls) answerWith(fn func(*http.Request) *http.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = fn
}
