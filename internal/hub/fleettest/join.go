package fleettest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/spokewire/spokewire/internal/child"
	"github.com/spokewire/spokewire/internal/pause"
)

// Those who may ask to join.
const (
	bootstrapUser  = "system:bootstrap:fleet"
	bootstrapGroup = "system:bootstrappers:managedcluster"
)

// StartRegistration runs OCM's registration controller on the hub, which
// accepts every cluster that Join brings, and Kubernetes' own controller that
// signs what it approves.
func (f *Fleet) StartRegistration(ctx context.Context) error {
	if err := errors.Join(f.grantBootstrap(ctx), f.takesClusters(ctx)); err != nil {
		return err
	}
	address, err := child.FreeAddress(ctx)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	err = f.run(layerOCM, child.Program{Name: "hub-kube-controller-manager", Path: program("kube-controller-manager"), Args: []string{
		"--kubeconfig=" + f.Hub.Kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=" + port,
		"--controllers=certificatesigningrequest-signing-controller,garbage-collector-controller,namespace-controller,clusterrole-aggregation-controller",
		"--cluster-signing-cert-file=" + f.path("ca.crt"), "--cluster-signing-key-file=" + f.path("ca.key"),
		"--authentication-kubeconfig=" + f.Hub.Kubeconfig, "--authorization-kubeconfig=" + f.Hub.Kubeconfig,
		"--cert-dir=" + f.dir,
	}})
	if err != nil {
		return err
	}
	return f.startOnHub(ctx, "registration", "controller",
		"--feature-gates=ManagedClusterAutoApproval=true,ResourceCleanup=true", "--auto-approved-csr-users="+bootstrapUser)
}

// grantBootstrap gives those who may ask to join what they need for it.
func (f *Fleet) grantBootstrap(ctx context.Context) error {
	core, err := kubernetes.NewForConfig(f.Hub.Config)
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{Name: "fleet-bootstrap"}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"certificatesigningrequests"}, Verbs: []string{"create", "get", "list", "watch"}},
		{APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclusters"}, Verbs: []string{"get", "create", "update"}},
		{APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclustersets/join"}, Verbs: []string{"create"}},
	}}
	if _, err := core.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err = core.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: bootstrapGroup}},
	}, metav1.CreateOptions{})
	return err
}

// takesClusters waits until the hub creates clusters at once. For two seconds
// after a definition is served, an API server lets creations wait: an agent
// that has its credentials before that forgets to create its cluster.
func (f *Fleet) takesClusters(ctx context.Context) error {
	ocm, err := clusterclient.NewForConfig(f.Hub.Config)
	if err != nil {
		return err
	}
	_, err = ocm.ClusterV1().ManagedClusters().Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "tried"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

const joinTimeout = time.Minute

// Join runs OCM's registration agent for a spoke and returns the path of the
// kubeconfig with the credentials that the hub gave to it.
func (f *Fleet) Join(ctx context.Context, s *Server) (string, error) {
	bootstrap, err := f.Hub.User(bootstrapUser, bootstrapGroup)
	if err != nil {
		return "", err
	}
	dir := f.path(s.Name + "-hub")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	err = f.startOnSpoke(ctx, s, "registration", "agent",
		"--bootstrap-kubeconfig="+bootstrap, "--hub-kubeconfig-dir="+dir, "--cluster-healthcheck-period=5s",
		"--spoke-external-server-urls=https://"+s.address)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kubeconfig")
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	for {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if !pause.For(ctx, 50*time.Millisecond) {
			return "", fmt.Errorf("%s has not joined within %s: see its log and that of hub-registration", s.Name, joinTimeout)
		}
	}
}
