package stack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/spokewire/spokewire/deploy/k8s"
)

// GrantBridge applies the bridge's shipped manifests, with user in the place
// of its service account: the roles are the very ones of a deployment.
func GrantBridge(ctx context.Context, admin *rest.Config, user string) error {
	files, err := k8s.HubBridge()
	if err != nil {
		return err
	}
	// The namespace comes before what is in it.
	return grant(ctx, admin, user, files, "serviceaccount.yaml", "clusterrole.yaml", "role.yaml", "bindings.yaml")
}

// grantSIG applies what the bridge needs besides to write SIG-Multicluster's
// objects.
func grantSIG(ctx context.Context, admin *rest.Config, user string) error {
	files, err := k8s.Interoperability()
	if err != nil {
		return err
	}
	return grant(ctx, admin, user, files, "slices.yaml", "profiles.yaml")
}

// grant applies manifests in their order, with user in the place of their
// service account.
func grant(ctx context.Context, admin *rest.Config, user string, files fs.FS, names ...string) error {
	core, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	manifests, err := readManifests(files, names)
	if err != nil {
		return err
	}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	for _, object := range manifests {
		if err := applyRight(ctx, core, object, subjects); err != nil {
			return fmt.Errorf("the rights of %s: %w", user, err)
		}
	}
	return nil
}

// applyRight creates an object. Roles of an earlier start are brought up to
// date; the rest does not change.
func applyRight(ctx context.Context, core kubernetes.Interface, object runtime.Object, subjects []rbacv1.Subject) error {
	err := createRight(ctx, core, object, subjects)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	switch o := object.(type) {
	case *rbacv1.ClusterRole:
		_, err = core.RbacV1().ClusterRoles().Update(ctx, o, metav1.UpdateOptions{})
		return err
	case *rbacv1.Role:
		_, err = core.RbacV1().Roles(o.Namespace).Update(ctx, o, metav1.UpdateOptions{})
		return err
	}
	return nil
}

func createRight(ctx context.Context, core kubernetes.Interface, object runtime.Object, subjects []rbacv1.Subject) (err error) {
	options := metav1.CreateOptions{}
	switch o := object.(type) {
	case *corev1.Namespace:
		_, err = core.CoreV1().Namespaces().Create(ctx, o, options)
	case *rbacv1.ClusterRole:
		_, err = core.RbacV1().ClusterRoles().Create(ctx, o, options)
	case *rbacv1.Role:
		_, err = core.RbacV1().Roles(o.Namespace).Create(ctx, o, options)
	case *rbacv1.ClusterRoleBinding:
		o.Subjects = subjects
		_, err = core.RbacV1().ClusterRoleBindings().Create(ctx, o, options)
	case *rbacv1.RoleBinding:
		o.Subjects = subjects
		_, err = core.RbacV1().RoleBindings(o.Namespace).Create(ctx, o, options)
	}
	return err
}

func readManifests(files fs.FS, names []string) ([]runtime.Object, error) {
	var objects []runtime.Object
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		decoded, err := decodeManifests(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}

func decodeManifests(text []byte) ([]runtime.Object, error) {
	decoder := serializer.NewCodecFactory(scheme.Scheme).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var objects []runtime.Object
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}
