package stack

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// grantOCM gives OCM's placement controller what it does on a hub: it reads
// everything of OCM that placing needs and writes decisions.
func grantOCM(ctx context.Context, core kubernetes.Interface, user string) error {
	meta := metav1.ObjectMeta{Name: user}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	for _, object := range []runtime.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: ocmRules()},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}},
		// Its own endpoint asks the hub who its callers are.
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user, Namespace: metav1.NamespaceSystem},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
		},
	} {
		if err := applyRight(ctx, core, object, subjects); err != nil {
			return fmt.Errorf("the rights of %s: %w", user, err)
		}
	}
	return nil
}

func ocmRules() []rbacv1.PolicyRule {
	group := []string{clusterv1.GroupName}
	read, write := []string{"get", "list", "watch"}, []string{"create", "update", "patch", "delete"}
	return []rbacv1.PolicyRule{
		{APIGroups: group, Verbs: read, Resources: []string{
			"managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores", "placements", "placementdecisions",
		}},
		{APIGroups: group, Verbs: write, Resources: []string{"placementdecisions"}},
		{APIGroups: group, Verbs: []string{"update", "patch"}, Resources: []string{"placements/status", "placementdecisions/status"}},
		{APIGroups: group, Verbs: []string{"update"}, Resources: []string{"placements/finalizers"}},
		{APIGroups: []string{"", "events.k8s.io"}, Verbs: []string{"create", "update", "patch"}, Resources: []string{"events"}},
	}
}
