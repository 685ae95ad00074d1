// Package hubtest gives tests a real hub: kube-apiserver and etcd as
// processes on loopback, started by controller-runtime's envtest, with OCM's
// resource definitions.
package hubtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/spokewire/spokewire/internal/hub"
)

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 30 * time.Second
)

// Hub is a running hub.
type Hub struct {
	env   *envtest.Environment
	admin *rest.Config
	users sync.Mutex // envtest counts its certificates without one
}

// run runs a hub and returns once its API serves OCM's resources. It takes
// some seconds.
func run() (*Hub, error) {
	programs := hub.In(BinDir())
	if err := programs.Validate(); err != nil {
		return nil, err
	}
	existing := false
	env := &envtest.Environment{
		UseExistingCluster:       &existing,
		CRDDirectoryPaths:        []string{programs.Definitions},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	env.ControlPlane.GetAPIServer().Path = programs.APIServer
	env.ControlPlane.Etcd = &envtest.Etcd{Path: programs.Etcd}
	admin, err := env.Start()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the hub: %w", err), env.Stop())
	}
	admin.QPS, admin.Burst = 1000, 2000
	return &Hub{env: env, admin: admin}, nil
}

// Admin may do everything on the hub.
func (h *Hub) Admin() *rest.Config { return rest.CopyConfig(h.admin) }

// User is someone with a client certificate of the hub and no rights but
// those that RBAC gives to its name and groups.
type User struct {
	Config     *rest.Config
	Kubeconfig []byte
}

// AddUser makes a client certificate for name.
func (h *Hub) AddUser(name string, groups ...string) (User, error) {
	h.users.Lock()
	defer h.users.Unlock()
	added, err := h.env.AddUser(envtest.User{Name: name, Groups: groups}, &rest.Config{QPS: 1000, Burst: 2000})
	if err != nil {
		return User{}, fmt.Errorf("add user %s to the hub: %w", name, err)
	}
	kubeconfig, err := added.KubeConfig()
	if err != nil {
		return User{}, fmt.Errorf("kubeconfig of user %s: %w", name, err)
	}
	return User{Config: added.Config(), Kubeconfig: kubeconfig}, nil
}

// Stop ends the API server, then etcd.
func (h *Hub) Stop() error { return h.env.Stop() }

// BinDir is the repository's bin, where make puts the hub's programs.
func BinDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "bin")
}

// Start runs a hub for one test.
func Start(t testing.TB) *Hub {
	t.Helper()
	h, err := run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Main runs a package's tests with one hub that they share, for TestMain. It
// returns the exit status.
func Main(m *testing.M, shared **Hub) int {
	h, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*shared = h
	status := m.Run()
	if err := h.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}
