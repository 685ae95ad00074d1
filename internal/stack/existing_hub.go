package stack

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
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
