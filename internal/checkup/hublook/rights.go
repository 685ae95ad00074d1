package hublook

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/deploy/k8s"
	"github.com/spokewire/spokewire/internal/checkup"
)

// binding is the name of the ClusterRoleBinding of the bridge's role, and of
// the RoleBinding of the role by which it holds its Lease.
const binding = "spokewire-hub-bridge"

// rights asks whether those to whom the bridge's role is bound may do what
// the shipped roles list, and puts into h what they may not.
func rights(ctx context.Context, client kubernetes.Interface, h *checkup.Hub) error {
	bound, err := client.RbacV1().ClusterRoleBindings().Get(ctx, binding, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	whole, held := new(rbacv1.ClusterRole), new(rbacv1.Role)
	if err := shipped("clusterrole.yaml", whole); err != nil {
		return err
	}
	if err := shipped("role.yaml", held); err != nil {
		return err
	}
	namespaces, err := leaseNamespaces(ctx, client, held.Namespace)
	if err != nil {
		return err
	}
	for _, subject := range bound.Subjects {
		who := reviewed{client, userOf(subject)}
		h.Users = append(h.Users, who.String())
		denied, err := who.refusals(ctx, "", whole.Rules)
		if err != nil {
			return err
		}
		unleased, err := who.unleased(ctx, namespaces, held.Rules)
		if err != nil {
			return err
		}
		h.Denied, h.Unleased = union(h.Denied, denied), union(h.Unleased, unleased)
	}
	return nil
}

// leaseNamespaces are those in which the bridge may hold its Lease: that of
// the shipped role, and those where somebody has bound it.
func leaseNamespaces(ctx context.Context, client kubernetes.Interface, usual string) ([]string, error) {
	list, err := client.RbacV1().RoleBindings(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + binding})
	if err != nil {
		return nil, err
	}
	namespaces := []string{usual}
	for i := range list.Items {
		namespaces = union(namespaces, []string{list.Items[i].Namespace})
	}
	return namespaces, nil
}

// shipped reads a role that is deployed.
func shipped(file string, role any) error {
	files, err := k8s.HubBridge()
	if err != nil {
		return err
	}
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, role); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// user is whom the API server takes somebody for.
type user struct {
	name   string // "" for a group
	groups []string
}

func (u user) String() string {
	if u.name == "" {
		return "group " + u.groups[0]
	}
	return u.name
}

func userOf(s rbacv1.Subject) user {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return user{"system:serviceaccount:" + s.Namespace + ":" + s.Name,
			[]string{"system:serviceaccounts", "system:serviceaccounts:" + s.Namespace, "system:authenticated"}}
	case rbacv1.GroupKind:
		return user{"", []string{s.Name, "system:authenticated"}}
	}
	return user{s.Name, []string{"system:authenticated"}}
}
