// Package hub runs a real hub on this machine: kube-apiserver and etcd as
// processes on loopback, with OCM's resource definitions and no cluster
// underneath. The local stack and the tests use the same one.
package hub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Options says where the hub's parts are.
type Options struct {
	// BinDir holds kube-apiserver and etcd, CRDDir the YAML of OCM's custom
	// resource definitions.
	BinDir, CRDDir string
	// DataDir keeps etcd's data; empty means a temporary one, removed by
	// Stop.
	DataDir string
}

// DefaultOptions looks for everything in binDir, as make puts it there.
func DefaultOptions(binDir string) Options {
	return Options{BinDir: binDir, CRDDir: filepath.Join(binDir, "crds")}
}

// Validate says what is missing and how to get it.
func (o Options) Validate() error {
	for _, path := range []string{o.apiServer(), o.etcd(), o.CRDDir} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: run 'make hub' in the repository", err)
		}
	}
	return nil
}

func (o Options) apiServer() string { return filepath.Join(o.BinDir, "kube-apiserver") }
func (o Options) etcd() string      { return filepath.Join(o.BinDir, "etcd") }

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 30 * time.Second
)

// Hub is a running hub.
type Hub struct {
	env   *envtest.Environment
	admin *rest.Config
}

// Start runs a hub and returns once its API serves OCM's resources. It takes
// some seconds.
func Start(_ context.Context, o Options) (*Hub, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	existing := false
	env := &envtest.Environment{
		UseExistingCluster:       &existing,
		CRDDirectoryPaths:        []string{o.CRDDir},
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	env.ControlPlane.GetAPIServer().Path = o.apiServer()
	env.ControlPlane.Etcd = &envtest.Etcd{Path: o.etcd(), DataDir: o.DataDir}
	if o.DataDir != "" {
		if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
			return nil, err
		}
	}
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
