package stack

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/pause"
)

// Processes of an embedded hub.
const (
	ProcessEtcd      = "etcd"
	ProcessAPIServer = "kube-apiserver"
)

// startEmbeddedHub runs etcd and the API server as processes of the stack,
// with the same certificates, flags and rights as a stack in containers.
func (s *Stack) startEmbeddedHub(ctx context.Context) error {
	api, err := s.keptAddress(ctx, ProcessAPIServer)
	if err != nil {
		return err
	}
	etcd, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	d := deployed(s.files.hub())
	if err := d.private(d.authority()); err != nil {
		return err
	}
	if err := d.prepareHub(PrepareOptions{Etcd: etcd, Hub: api, OperatorHub: api}, time.Now()); err != nil {
		return err
	}
	if err := s.startEtcd(ctx, d, etcd); err != nil {
		return err
	}
	if err := s.start(s.apiServer(d, etcd, api)); err != nil {
		return err
	}
	return s.populateEmbeddedHub(ctx, d)
}

func (s *Stack) startEtcd(ctx context.Context, d deployed, address string) error {
	peer, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	secrets := d.secrets(partEtcd)
	return s.start(child.Program{Name: ProcessEtcd, Path: hub.In(s.options.BinDir).Etcd, Args: []string{
		"--name=hub", "--data-dir=" + s.files.etcd(),
		"--listen-client-urls=https://" + address, "--advertise-client-urls=https://" + address,
		"--listen-peer-urls=http://" + peer, "--initial-advertise-peer-urls=http://" + peer, "--initial-cluster=hub=http://" + peer,
		"--client-cert-auth", "--trusted-ca-file=" + filepath.Join(secrets, fileCA),
		"--cert-file=" + filepath.Join(secrets, "server.crt"), "--key-file=" + filepath.Join(secrets, "server.key"),
		"--enable-grpc-gateway=false", "--log-level=warn",
		// The stack is for trying out: it outlives a kill, not a power cut.
		"--unsafe-no-fsync",
	}})
}

func (s *Stack) apiServer(d deployed, etcd, address string) child.Program {
	secret := func(name string) string { return filepath.Join(d.secrets(partAPIServer), name) }
	host, port, _ := splitAddress(address) // it is one of ours
	return child.Program{Name: ProcessAPIServer, Path: hub.In(s.options.BinDir).APIServer, Args: []string{
		"--etcd-servers=https://" + etcd, "--etcd-cafile=" + secret("etcd-ca.crt"),
		"--etcd-certfile=" + secret("etcd-client.crt"), "--etcd-keyfile=" + secret("etcd-client.key"),
		"--bind-address=" + host, "--advertise-address=" + host, "--secure-port=" + port,
		"--tls-cert-file=" + secret("server.crt"), "--tls-private-key-file=" + secret("server.key"),
		"--client-ca-file=" + secret(fileCA), "--authorization-mode=RBAC",
		"--service-account-issuer=https://" + address,
		"--service-account-key-file=" + secret("tokens.crt"), "--service-account-signing-key-file=" + secret("tokens.key"),
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
	}}
}

// populateEmbeddedHub waits for the API server and creates what a hub of OCM
// has, and the rights of the bridge.
func (s *Stack) populateEmbeddedHub(ctx context.Context, d deployed) error {
	kubeconfig := func(part string) string { return filepath.Join(d.secrets(part), fileKubeconfig) }
	admin, err := clientcmd.BuildConfigFromFlags("", kubeconfig(partOperator))
	if err != nil {
		return err
	}
	admin.QPS, admin.Burst = 1000, 2000
	s.hub = hubAccess{address: admin.Host, admin: kubeconfig(partOperator), bridge: kubeconfig(access.HubBridge), lease: bridgeNamespace, config: admin}
	core, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	if err := waitForAPIServer(ctx, core); err != nil {
		return err
	}
	programs := hub.In(s.options.BinDir)
	if err := d.populateHub(ctx, PopulateOptions{CRDDir: programs.Definitions, Spokes: s.options.spokes()}); err != nil {
		return err
	}
	if s.options.SIG {
		if err := errors.Join(hub.InstallDefinitions(ctx, admin, programs.SIGDefinitions), grantSIG(ctx, admin, bridgeUser)); err != nil {
			return err
		}
	}
	if detour := s.options.Detours.Hub; detour != nil {
		s.hub.bridge, err = detour(s.hub.bridge)
	}
	return err
}

// apiServerTimeout bounds the start of an API server with old data on a busy
// machine.
const apiServerTimeout = 2 * time.Minute

func waitForAPIServer(ctx context.Context, core kubernetes.Interface) error {
	ctx, cancel := pause.Within(ctx, apiServerTimeout)
	defer cancel()
	for {
		text, err := core.Discovery().RESTClient().Get().AbsPath("/readyz").Timeout(5 * time.Second).DoRaw(ctx)
		if err == nil {
			return nil
		}
		if !pause.For(ctx, 50*time.Millisecond) {
			if len(text) > 0 {
				err = fmt.Errorf("%w: %s", err, text)
			}
			return fmt.Errorf("the API server is not ready: %w: %w", pause.Why(ctx), err)
		}
	}
}
