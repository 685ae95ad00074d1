package fleettest

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/pause"
)

// Server is one API server of a fleet.
type Server struct {
	// Name is hub, or that of the spoke.
	Name string
	// Config is an administrator's, and Kubeconfig the path of the same.
	Config     *rest.Config
	Kubeconfig string

	fleet   *Fleet
	address string
}

const readyTimeout = 2 * time.Minute

func (f *Fleet) startEtcd(ctx context.Context) error {
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	peer, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	f.etcd = "http://" + address
	return f.run(layerEtcd, child.Program{Name: "etcd", Path: program("etcd"), Args: []string{
		"--name=fleet", "--data-dir=" + f.path("etcd"),
		"--listen-client-urls=" + f.etcd, "--advertise-client-urls=" + f.etcd,
		"--listen-peer-urls=http://" + peer, "--initial-advertise-peer-urls=http://" + peer, "--initial-cluster=fleet=http://" + peer,
		"--enable-grpc-gateway=false", "--log-level=warn", "--unsafe-no-fsync",
	}})
}

// startServer runs an API server and returns once it is ready. What it stores
// has its name for a prefix.
func (f *Fleet) startServer(ctx context.Context, name string) (*Server, error) {
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	pair, err := f.authority.Server(time.Now(), "127.0.0.1", "localhost", "kubernetes.default.svc")
	if err != nil {
		return nil, err
	}
	if err := f.writePair(name, pair); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	err = f.run(layerServers, child.Program{Name: "kube-apiserver-" + name, Path: hub.In(hubtest.BinDir()).APIServer, Args: []string{
		"--etcd-servers=" + f.etcd, "--etcd-prefix=/" + name,
		"--bind-address=" + host, "--advertise-address=" + host, "--secure-port=" + port,
		"--tls-cert-file=" + f.path(name+".crt"), "--tls-private-key-file=" + f.path(name+".key"),
		"--client-ca-file=" + f.path("ca.crt"), "--authorization-mode=RBAC",
		// OCM's processes look for these, and complain every other second
		// where there are none.
		"--requestheader-client-ca-file=" + f.path("tokens.crt"), "--requestheader-allowed-names=nobody",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--service-account-issuer=https://" + address,
		"--service-account-key-file=" + f.path("tokens.crt"), "--service-account-signing-key-file=" + f.path("tokens.key"),
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
	}})
	if err != nil {
		return nil, err
	}
	return f.newServer(ctx, name, address)
}

func (f *Fleet) newServer(ctx context.Context, name, address string) (*Server, error) {
	s := &Server{Name: name, fleet: f, address: address}
	var err error
	if s.Kubeconfig, err = s.User("admin", "system:masters"); err != nil {
		return nil, err
	}
	if s.Config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig); err != nil {
		return nil, err
	}
	s.Config.QPS, s.Config.Burst = 1000, 2000
	return s, s.wait(ctx)
}

func (s *Server) wait(ctx context.Context) error {
	core, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		text, err := core.Discovery().RESTClient().Get().AbsPath("/readyz").Timeout(5 * time.Second).DoRaw(ctx)
		if err == nil {
			return nil
		}
		if !pause.For(ctx, 50*time.Millisecond) {
			return fmt.Errorf("the API server of %s is not ready after %s: %w: %s", s.Name, readyTimeout, err, text)
		}
	}
}

// Kill ends the API server with SIGKILL. The fleet starts it again.
func (s *Server) Kill() error {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	for _, c := range s.fleet.layers[layerServers] {
		if c.Program().Name == s.process() {
			return c.Signal(syscall.SIGKILL)
		}
	}
	return fmt.Errorf("%s does not run", s.process())
}

func (s *Server) process() string { return "kube-apiserver-" + s.Name }

// User returns the path of a kubeconfig for someone with a client
// certificate, who has no rights but those that RBAC gives to that name and
// groups.
func (s *Server) User(name string, groups ...string) (string, error) {
	client, err := s.fleet.authority.Client(time.Now(), name, groups...)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[s.Name] = &clientcmdapi.Cluster{Server: "https://" + s.address, CertificateAuthorityData: s.fleet.authority.Pair().Cert}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: client.Cert, ClientKeyData: client.Key}
	config.Contexts[s.Name] = &clientcmdapi.Context{Cluster: s.Name, AuthInfo: name}
	config.CurrentContext = s.Name
	text, err := clientcmd.Write(*config)
	if err != nil {
		return "", err
	}
	file := s.Name + "-" + strings.NewReplacer(":", "-", string(filepath.Separator), "-").Replace(name) + ".kubeconfig"
	return s.fleet.path(file), s.fleet.write(file, text)
}
