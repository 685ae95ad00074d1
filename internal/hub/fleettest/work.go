package fleettest

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/spokewire/spokewire/internal/child"
)

// The namespaces in which OCM expects to run.
const (
	hubNamespace   = "open-cluster-management-hub"
	agentNamespace = "open-cluster-management-agent"
)

// StartWork runs OCM's work controller on the hub, with
// ManifestWorkReplicaSets, and its work agent for each spoke, which reaches
// the hub as an administrator. Each spoke needs a namespace of its name on
// the hub.
func (f *Fleet) StartWork(ctx context.Context) error {
	if err := f.startOnHub(ctx, "work", "manager", "--feature-gates=ManifestWorkReplicaSet=true"); err != nil {
		return err
	}
	for _, s := range f.Spokes {
		if err := f.StartWorkAgent(ctx, s, f.Hub.Kubeconfig); err != nil {
			return err
		}
	}
	return nil
}

// StartWorkAgent runs OCM's work agent for one spoke, which reaches the hub
// by that kubeconfig.
func (f *Fleet) StartWorkAgent(ctx context.Context, s *Server, hubKubeconfig string) error {
	return f.startOnSpoke(ctx, s, "work", "agent",
		"--workload-source-driver=kube", "--workload-source-config="+hubKubeconfig, "--hub-kubeconfig="+hubKubeconfig,
		"--hub-kubeconfig-dir="+f.dir, "--status-sync-interval=1s",
	)
}

// startOnHub runs one of OCM's controllers: PROGRAM CONTROLLER.
func (f *Fleet) startOnHub(ctx context.Context, name, controller string, args ...string) error {
	if err := EnsureNamespace(ctx, f.Hub, hubNamespace); err != nil {
		return err
	}
	return f.startOCM(ctx, "hub-"+name, name, controller, f.Hub, hubNamespace, args...)
}

func (f *Fleet) startOnSpoke(ctx context.Context, s *Server, name, controller string, args ...string) error {
	if err := EnsureNamespace(ctx, s, agentNamespace); err != nil {
		return err
	}
	args = append([]string{"--spoke-cluster-name=" + s.Name, "--agent-id=" + s.Name}, args...)
	return f.startOCM(ctx, s.Name+"-"+name, name, controller, s, agentNamespace, args...)
}

func (f *Fleet) startOCM(ctx context.Context, process, name, controller string, s *Server, namespace string, args ...string) error {
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	return f.run(layerOCM, child.Program{Name: process, Path: program(name), Args: append([]string{
		controller, "--kubeconfig=" + s.Kubeconfig, "--namespace=" + namespace, "--disable-leader-election", "--listen=" + address,
		"--kube-api-qps=200", "--kube-api-burst=400",
	}, args...)})
}

// EnsureNamespace creates a namespace where it is not there.
func EnsureNamespace(ctx context.Context, s *Server, name string) error {
	core, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return err
	}
	_, err = core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
