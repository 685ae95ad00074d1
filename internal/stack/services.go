package stack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// hubAccess is how the stack's parts reach the hub.
type hubAccess struct {
	address string
	admin   string // path of a kubeconfig
	bridge  string // ditto
	lease   string // namespace of the bridge's Lease
	config  *rest.Config
}

const (
	// bridgeUser is the bridge's name on an embedded hub.
	bridgeUser = "spokewire-hub-bridge"
	// bridgeNamespace is where the bridge is deployed.
	bridgeNamespace = "spokewire"
)

func (s *Stack) startHub(ctx context.Context) error {
	if s.options.Hub == Embedded {
		return s.startEmbeddedHub(ctx)
	}
	return s.useHub(ctx)
}

// useHub takes the hub that the user named, and creates nothing on it but
// the spokes that are asked for.
func (s *Stack) useHub(ctx context.Context) error {
	path, err := filepath.Abs(s.options.Hub)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return fmt.Errorf("--hub %s: %w", s.options.Hub, err)
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("--hub %s: %w", s.options.Hub, err)
	}
	bridge, err := filepath.Abs(cmp.Or(s.options.BridgeKubeconfig, path))
	if err != nil {
		return err
	}
	s.hub = hubAccess{address: config.Host, admin: path, bridge: bridge, config: config}
	if s.hub.lease, err = leaseNamespace(ctx, core); err != nil {
		return fmt.Errorf("--hub %s: %s does not answer: %w", s.options.Hub, config.Host, err)
	}
	if s.options.spokes() == 0 {
		return nil
	}
	return CreateFleet(ctx, config, s.options.spokes())
}

// leaseNamespace is where the bridge finds the Lease that says who writes: a
// deployed bridge's namespace, or one that every hub has.
func leaseNamespace(ctx context.Context, core kubernetes.Interface) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err := core.CoreV1().Namespaces().Get(ctx, bridgeNamespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fleetNamespace, nil
	case err == nil, apierrors.IsForbidden(err): // there, or not for us to see
		return bridgeNamespace, nil
	}
	return "", err
}

// startServices runs the hub services and waits until each is ready.
func (s *Stack) startServices(ctx context.Context) error {
	services := []string{access.Scorer, access.PlacementWriter}
	if s.options.Hub != None {
		services = append(services, access.HubBridge)
	}
	var names []string
	for _, service := range services {
		for i := range max(1, s.options.Replicas) {
			name := replicaName(service, i+1)
			if err := s.startService(ctx, service, name); err != nil {
				return err
			}
			names = append(names, name)
		}
	}
	// It keeps nothing, so a second one would only cost memory here.
	if err := s.startService(ctx, access.Inquiry, access.Inquiry); err != nil {
		return err
	}
	names = append(names, access.Inquiry)
	for _, name := range names {
		if err := s.Ready(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// replicaName is the process name of replica i, from 1, of a service: the
// first bears the service's name.
func replicaName(service string, i int) string {
	if i == 1 {
		return service
	}
	return service + "-" + strconv.Itoa(i)
}

func (s *Stack) startService(ctx context.Context, service, name string) error {
	env, err := s.natsEnv(service, service)
	if err != nil {
		return err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	args := []string{service, "--listen", address}
	if service == access.HubBridge {
		args = append(args, "--kubeconfig", s.hub.bridge, "--namespace", s.hub.lease, "--identity", s.identity(name))
	}
	s.health[name] = "http://" + address
	return s.start(s.self(name, env, args...))
}

// identity names a replica in the Lease: the same after a restart, and
// another one than that of any other stack.
func (s *Stack) identity(name string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	digest := sha256.Sum256([]byte(s.files))
	return fmt.Sprintf("%s-%s-%x", name, host, digest[:4])
}

// startSpokes runs each cluster's workload and its collector.
func (s *Stack) startSpokes(ctx context.Context) error {
	for i := range s.options.spokes() {
		if err := s.startSpoke(ctx, clusterName(i+1)); err != nil {
			return fmt.Errorf("%s: %w", clusterName(i+1), err)
		}
	}
	return s.waitForMetrics(ctx)
}

// waitForMetrics returns once each spoke's first snapshot is on the bus, and
// the spoke itself as the hub has it.
func (s *Stack) waitForMetrics(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	bus, err := s.connect(ctx, access.Operator, "")
	if err != nil {
		return err
	}
	defer bus.Close()
	for _, cluster := range s.Clusters() {
		err := waitForEvent(ctx, bus, events.StreamMetrics, events.MetricSubject(cluster, spokeSource))
		if err == nil && s.options.Hub != None {
			err = waitForEvent(ctx, bus, events.StreamHub, events.HubSubject(events.KindCluster, "", cluster))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// waitForEvent returns once subject has an event.
func waitForEvent(ctx context.Context, bus events.Getter, stream, subject string) error {
	for {
		_, err := bus.Last(ctx, stream, subject)
		if err == nil {
			return nil
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("nothing on %s after %s: %w", subject, readyTimeout, err)
		}
	}
}

func (s *Stack) startSpoke(ctx context.Context, cluster string) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	if err := s.start(s.self(cluster, nil, "spoke", "--address", address, "--listen", "")); err != nil {
		return err
	}
	if err := waitForListener(ctx, address); err != nil {
		return err
	}
	s.spokeURLs[cluster] = "http://" + address
	env, err := s.natsEnv(access.SpokeUser(cluster), cluster)
	if err != nil {
		return err
	}
	if detour := s.options.Detours.Spoke; detour != nil {
		url := env[0]
		env[0] = strings.Replace(url, s.natsHost(), detour(cluster, s.natsHost()), 1)
	}
	return s.start(s.self("collector-"+cluster, env, "collector",
		"--cluster", cluster, "--source", spokeSource, "--target", "http://"+address+"/metrics",
		"--interval", s.options.Interval.String(), "--outbox", s.files.outbox(cluster), "--listen", "127.0.0.1:0"))
}

// ocmNamespace is where OCM's hub controllers expect to live.
const ocmNamespace = "open-cluster-management-hub"

// startOCM runs OCM's real placement controller, built on first use.
func (s *Stack) startOCM(ctx context.Context) error {
	program := filepath.Join(s.options.BinDir, "placement")
	if _, err := os.Stat(program); err != nil {
		s.options.Progress("building OCM's placement controller (once, some minutes)")
		build := exec.CommandContext(ctx, "make", "-C", filepath.Dir(s.options.BinDir), program)
		if output, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s\nbuild it with 'make %s' in the repository", err, output, program)
		}
	}
	core, err := kubernetes.NewForConfig(s.hub.config)
	if err != nil {
		return err
	}
	if err := ensureNamespace(ctx, core, ocmNamespace); err != nil {
		return err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	return s.start(Program{Name: ProcessOCM, Path: program, Args: []string{
		"controller", "--kubeconfig", s.hub.admin, "--namespace", ocmNamespace, "--disable-leader-election", "--listen", address,
	}})
}

// waitForReady returns once url answers 200.
func waitForReady(ctx context.Context, name, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client := &http.Client{Timeout: 5 * time.Second}
	last := "no answer"
	for {
		if request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil); err != nil {
			return err
		} else if response, err := client.Do(request); err == nil {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 4096))
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
			last = string(body)
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("%s is not ready after %s: %s", name, readyTimeout, last)
		}
	}
}
