package hublook

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/spokewire/spokewire/internal/checkup"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
)

var shared *hubtest.Hub

func TestMain(m *testing.M) { os.Exit(hubtest.Main(m, &shared)) }

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestLook goes from a hub where the bridge has no role to one where
// resources are missing. The steps share a hub.
func TestLook(t *testing.T) {
	admin := shared.Admin()
	core := kubernetes.NewForConfigOrDie(admin)
	await(t, "nobody has the role", func(h *checkup.Hub) bool {
		return h.Fault == "" && len(h.Missing) == 0 && len(h.Users) == 0 && h.Untold == "" && !h.HasObjects
	})

	role, held := shippedRoles(t)
	whole := role.Rules
	role.Rules = role.Rules[1:]
	role, err := core.RbacV1().ClusterRoles().Create(within(t), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bind(t, core, role.Name)
	const bridge = "system:serviceaccount:spokewire:hub-bridge"
	await(t, "part of the role", func(h *checkup.Hub) bool {
		return reflect.DeepEqual(h.Users, []string{bridge, "spokewire-hub-bridge"}) &&
			strings.Contains(strings.Join(h.Denied, ", "), "list managedclusters") &&
			!strings.Contains(strings.Join(h.Denied, ", "), "placements/status")
	})

	role.Rules = whole
	if _, err := core.RbacV1().ClusterRoles().Update(within(t), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "all of the role, and no Lease", func(h *checkup.Hub) bool {
		return len(h.Users) == 2 && len(h.Denied) == 0 && slices.Equal(h.Unleased, []string{
			"create leases in namespace spokewire", "get leases in namespace spokewire", "update leases in namespace spokewire",
		})
	})

	held.Namespace, whole = "default", held.Rules
	held.Rules = held.Rules[:1]
	held, err = core.RbacV1().Roles(held.Namespace).Create(within(t), held, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bindLease(t, core, held)
	await(t, "part of the Lease's role, in another namespace", func(h *checkup.Hub) bool {
		return slices.Equal(h.Unleased, []string{"get leases in namespace default", "update leases in namespace default"})
	})
	held.Rules = whole
	if _, err := core.RbacV1().Roles(held.Namespace).Update(within(t), held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "all of both roles", func(h *checkup.Hub) bool {
		return len(h.Users) == 2 && len(h.Denied) == 0 && len(h.Unleased) == 0
	})

	holder, renewed := "bridge-1", metav1.NowMicro()
	if _, err := core.CoordinationV1().Leases("default").Create(within(t), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "ManagedCluster", "metadata": map[string]any{"name": "c"},
	}}
	clusters := dynamic.NewForConfigOrDie(admin).Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "managedclusters"})
	if _, err := clusters.Create(within(t), cluster, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "somebody writes", func(h *checkup.Hub) bool {
		return h.HasObjects && len(h.Leases) == 1 && h.Leases[0].Namespace == "default" && h.Leases[0].Holder == holder && h.Leases[0].Age < 30*time.Second
	})

	unserve(t, admin)
	await(t, "resources missing", func(h *checkup.Hub) bool {
		want := []checkup.MissingResource{
			{Name: "managedclustersets", Version: "v1beta2", Served: []string{"v1"}},
			{Name: "addonplacementscores", Version: "v1alpha1"},
		}
		return reflect.DeepEqual(h.Missing, want)
	})
}

// await looks until the hub is as it must be: what it serves and allows
// follows within moments.
func await(t *testing.T, what string, ok func(*checkup.Hub) bool) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		h := Look(ctx, shared.Admin())
		if ok(h) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: got %+v", what, h)
		}
	}
}

func bind(t *testing.T, core kubernetes.Interface, role string) {
	t.Helper()
	_, err := core.RbacV1().ClusterRoleBindings().Create(within(t), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: binding},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subjects(),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func bindLease(t *testing.T, core kubernetes.Interface, role *rbacv1.Role) {
	t.Helper()
	_, err := core.RbacV1().RoleBindings(role.Namespace).Create(within(t), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: binding},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   subjects(),
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func subjects() []rbacv1.Subject {
	return []rbacv1.Subject{
		{Kind: rbacv1.ServiceAccountKind, Namespace: "spokewire", Name: "hub-bridge"},
		{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "spokewire-hub-bridge"},
	}
}

func shippedRoles(t *testing.T) (*rbacv1.ClusterRole, *rbacv1.Role) {
	t.Helper()
	whole, held := new(rbacv1.ClusterRole), new(rbacv1.Role)
	if err := errors.Join(shipped("clusterrole.yaml", whole), shipped("role.yaml", held)); err != nil {
		t.Fatal(err)
	}
	return whole, held
}

// unserve removes one resource, and has another served in another version
// alone.
func unserve(t *testing.T, admin *rest.Config) {
	t.Helper()
	definitions := dynamic.NewForConfigOrDie(admin).Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	if err := definitions.Delete(within(t), "addonplacementscores."+group, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	renamed := []byte(`[{"op": "add", "path": "/spec/versions/-", "value":
		{"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
		{"op": "replace", "path": "/spec/versions/0/served", "value": false}]`)
	if _, err := definitions.Patch(within(t), "managedclustersets."+group, types.JSONPatchType, renamed, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestLookSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if h := Look(within(t), &rest.Config{Host: "https://" + listener.Addr().String()}); !strings.Contains(h.Fault, "connection refused") {
		t.Errorf("got %+v, want that the connection is refused", h)
	}
	if h := Files(within(t), filepath.Join(t.TempDir(), "none")); h.Fault == "" {
		t.Errorf("got %+v, want that there is no such file", h)
	}
}

// Someone without rights learns what is served, and that the rest cannot be
// told.
func TestLookWithoutRights(t *testing.T) {
	t.Parallel()
	user, err := shared.AddUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, user.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if h := Files(within(t), file); h.Fault != "" || !strings.Contains(h.Untold, "forbidden") || !strings.Contains(h.LeasesUntold, "forbidden") {
		t.Errorf("got %+v, want that the rights are forbidden to ask for", h)
	}
}
