// Package hublook looks at a hub by a kubeconfig: whether it serves what
// hub-bridge needs, and whether hub-bridge may do what it does. It changes
// nothing there.
package hublook

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/internal/checkup"
)

const (
	// group is that of OCM's resources.
	group = "cluster.open-cluster-management.io"
	// binding is the name of the ClusterRoleBinding of the bridge's role.
	binding = "spokewire-hub-bridge"
	// callTimeout bounds one call.
	callTimeout = 3 * time.Second
)

// needed are the resources that the bridge reads, with their versions.
func needed() []checkup.MissingResource {
	return []checkup.MissingResource{
		{Name: "managedclusters", Version: "v1"},
		{Name: "managedclustersets", Version: "v1beta2"},
		{Name: "managedclustersetbindings", Version: "v1beta2"},
		{Name: "placements", Version: "v1beta1"},
		{Name: "placementdecisions", Version: "v1beta1"},
		{Name: "addonplacementscores", Version: "v1alpha1"},
	}
}

// Files looks at the hub of kubeconfig files, a list as KUBECONFIG has it.
// What cannot be looked at is said in the result.
func Files(ctx context.Context, kubeconfig string) *checkup.Hub {
	rules := clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(kubeconfig)}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&rules, nil).ClientConfig()
	if err != nil {
		return &checkup.Hub{Server: kubeconfig, Fault: err.Error()}
	}
	return Look(ctx, config)
}

// Look looks at the hub of config.
func Look(ctx context.Context, config *rest.Config) *checkup.Hub {
	config = rest.CopyConfig(config)
	config.Timeout, config.QPS, config.Burst = callTimeout, 100, 100
	h := &checkup.Hub{Server: config.Host}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		h.Fault = err.Error()
		return h
	}
	served, err := resources(ctx, client.DiscoveryClient)
	if err != nil {
		h.Fault = err.Error()
		return h
	}
	for _, r := range needed() {
		if !slices.Contains(served[r.Name], r.Version) {
			r.Served = served[r.Name]
			h.Missing = append(h.Missing, r)
		}
	}
	if h.Users, h.Denied, err = rights(ctx, client); err != nil {
		h.Untold = err.Error()
	}
	h.HasObjects = hasAny(ctx, client, "v1", "managedclusters") || hasAny(ctx, client, "v1beta1", "placements")
	if h.Leases, err = leases(ctx, client, time.Now()); err != nil {
		h.LeasesUntold = err.Error()
	}
	return h
}

// resources returns the versions of each of OCM's resources.
func resources(ctx context.Context, client *discovery.DiscoveryClient) (map[string][]string, error) {
	groups, err := client.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	served := map[string][]string{}
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		for _, v := range g.Versions {
			list, err := client.ServerResourcesForGroupVersionWithContext(ctx, v.GroupVersion)
			if err != nil {
				return nil, err
			}
			for _, r := range list.APIResources {
				served[r.Name] = append(served[r.Name], v.Version)
			}
		}
	}
	return served, nil
}

// rights asks whether those to whom the bridge's role is bound may do what
// the shipped role lists.
func rights(ctx context.Context, client kubernetes.Interface) (users, denied []string, err error) {
	bound, err := client.RbacV1().ClusterRoleBindings().Get(ctx, binding, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	role, err := shippedRole()
	if err != nil {
		return nil, nil, err
	}
	for _, subject := range bound.Subjects {
		who, groups := userOf(subject)
		users = append(users, cmp.Or(who, "group "+groups[0]))
		refused, err := refusals(ctx, client, who, groups, role.Rules)
		if err != nil {
			return nil, nil, err
		}
		denied = append(denied, refused...)
	}
	return users, denied, nil
}

// shippedRole is the role that is deployed.
func shippedRole() (*rbacv1.ClusterRole, error) {
	files, err := k8s.HubBridge()
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(files, "clusterrole.yaml")
	if err != nil {
		return nil, err
	}
	role := new(rbacv1.ClusterRole)
	if err := yaml.UnmarshalStrict(text, role); err != nil {
		return nil, fmt.Errorf("clusterrole.yaml: %w", err)
	}
	return role, nil
}

// userOf is who the API server takes a subject for.
func userOf(s rbacv1.Subject) (user string, groups []string) {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return "system:serviceaccount:" + s.Namespace + ":" + s.Name,
			[]string{"system:serviceaccounts", "system:serviceaccounts:" + s.Namespace, "system:authenticated"}
	case rbacv1.GroupKind:
		return "", []string{s.Name, "system:authenticated"}
	}
	return s.Name, []string{"system:authenticated"}
}
