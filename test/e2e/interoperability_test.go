package e2e

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	sigclient "sigs.k8s.io/cluster-inventory-api/client/clientset/versioned"

	"github.com/spokewire/spokewire/internal/hub"
	"github.com/spokewire/spokewire/internal/hub/fleettest"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/test/difftest/twin"
	"github.com/spokewire/spokewire/test/e2e/consumer"
)

// TestAConsumerOfSIGMulticluster has a program that knows SIG-Multicluster's
// types alone use the clusters of a Placement: spoke-1 by a token of a
// ServiceAccount there, spoke-2 by the certificate that OCM's registration
// got for its agent.
func TestAConsumerOfSIGMulticluster(t *testing.T) {
	t.Parallel()
	m := multicluster{t: t, fleet: fleettest.Start(t, 2), namespace: "apps"}
	m.hub = hubBy(t, m.fleet.Hub.Kubeconfig)
	m.sig = sigclient.NewForConfigOrDie(m.fleet.Hub.Config)
	must(t, hub.InstallDefinitions(t.Context(), m.fleet.Hub.Config, filepath.Join(hubtest.BinDir(), "crds-sig")))
	must(t, m.fleet.StartRegistration(t.Context()))
	for _, spoke := range m.fleet.Spokes {
		_, err := m.fleet.Join(t.Context(), spoke)
		must(t, err)
	}
	startStack(t, func(o *stack.Options) {
		o.Hub, o.Spokes = m.fleet.Hub.Kubeconfig, 0
		o.Args = map[string][]string{"hub-bridge": {"--sig-placement-decisions", "--write-cluster-profiles"}}
	})
	m.place()
	as := m.consumer()

	if _, err := m.use(as); !apierrors.IsNotFound(err) {
		t.Errorf("without credentials the consumer says %v, want that Secrets are not found", err)
	}
	m.giveToken("spoke-1")
	m.giveRegistration("spoke-2")
	who, err := m.use(as)
	must(t, err)
	want := map[string]string{
		"spoke-1": "system:serviceaccount:default:consumer",
		"spoke-2": "system:open-cluster-management:spoke-2:spoke-2",
	}
	if !maps.Equal(who, want) {
		t.Errorf("the consumer is %v on the clusters, want %v", who, want)
	}
	for _, spoke := range m.fleet.Spokes {
		greeting, err := kubernetes.NewForConfigOrDie(spoke.Config).CoreV1().ConfigMaps("default").Get(t.Context(), "greeting", metav1.GetOptions{})
		if err != nil || greeting.Data["to"] != spoke.Name {
			t.Errorf("%s has the greeting %v (%v)", spoke.Name, greeting.Data, err)
		}
	}
}

// multicluster is a hub that clusters have joined, with a namespace where
// they are selected.
type multicluster struct {
	t         *testing.T
	fleet     *fleettest.Fleet
	hub       hubClients
	sig       sigclient.Interface
	namespace string
}

// place selects every cluster that has joined, once it is available.
func (m multicluster) place() {
	m.t.Helper()
	ctx, ocm := m.t.Context(), m.hub.ocm
	must(m.t, twin.CreateNamespace(ctx, m.hub.twin(), m.namespace))
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Name: "global"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"}}
	must(m.t, created(ocm.ClusterV1beta2().ManagedClusterSetBindings(m.namespace).Create(ctx, binding, metav1.CreateOptions{})))
	must(m.t, created(ocm.ClusterV1beta1().Placements(m.namespace).Create(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
		Name: "everywhere", Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
	}}, metav1.CreateOptions{})))
	want := []string{}
	for _, spoke := range m.fleet.Spokes {
		want = append(want, spoke.Name)
	}
	testwait.Within(m.t, time.Minute, func() string {
		for _, name := range want {
			c, err := ocm.ClusterV1().ManagedClusters().Get(ctx, name, metav1.GetOptions{})
			if err != nil || !meta.IsStatusConditionTrue(c.Status.Conditions, clusterv1.ManagedClusterConditionAvailable) {
				return fmt.Sprintf("cluster %s is not available (%v)", name, err)
			}
		}
		return m.selects(ctx, want)
	})
}

// selects says what is missing until there is a slice with these clusters,
// and their ClusterProfiles say where they are.
func (m multicluster) selects(ctx context.Context, want []string) string {
	slice, err := m.sig.ApisV1alpha1().PlacementDecisions(m.namespace).Get(ctx, "everywhere-slice-0", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	got := []string{}
	for _, d := range slice.Decisions {
		got = append(got, d.ClusterProfileRef.Name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("the slice has %v, want %v", got, want)
	}
	for _, name := range want {
		p, err := m.sig.ApisV1alpha1().ClusterProfiles(m.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if len(p.Status.AccessProviders) == 0 {
			return fmt.Sprintf("ClusterProfile %s does not say where the cluster is", name)
		}
	}
	return ""
}

// consumer is a user of the hub who may read what the consumer needs, in its
// namespace.
func (m multicluster) consumer() *rest.Config {
	m.t.Helper()
	const user = "consumer"
	path, err := m.fleet.Hub.User(user)
	must(m.t, err)
	grant(m.t, m.hub.core, m.namespace, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user},
		rbacv1.PolicyRule{APIGroups: []string{sig.Group}, Resources: []string{"placementdecisions"}, Verbs: []string{"list"}},
		rbacv1.PolicyRule{APIGroups: []string{sig.Group}, Resources: []string{"clusterprofiles"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}})
	return hubBy(m.t, path).config
}

// use has the consumer greet each cluster of its decision, and returns who it
// is there.
func (m multicluster) use(hub *rest.Config) (map[string]string, error) {
	who, ctx := map[string]string{}, m.t.Context()
	err := consumer.ForEach(ctx, hub, m.namespace, "everywhere", func(name string, cluster *rest.Config) error {
		client, err := kubernetes.NewForConfig(cluster)
		if err != nil {
			return err
		}
		me, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		who[name] = me.Status.UserInfo.Username
		greeting := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "greeting"}, Data: map[string]string{"to": name}}
		return created(client.CoreV1().ConfigMaps("default").Create(ctx, greeting, metav1.CreateOptions{}))
	})
	return who, err
}

// greets lets somebody create ConfigMaps on a spoke.
func (m multicluster) greets(spoke string, who rbacv1.Subject) {
	m.t.Helper()
	grant(m.t, kubernetes.NewForConfigOrDie(m.fleet.Spoke(spoke).Config), "default", who,
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}})
}

// giveToken puts a token of a ServiceAccount of the spoke where the provider
// secretreader looks for it.
func (m multicluster) giveToken(spoke string) {
	m.t.Helper()
	ctx, there := m.t.Context(), kubernetes.NewForConfigOrDie(m.fleet.Spoke(spoke).Config).CoreV1().ServiceAccounts("default")
	must(m.t, created(there.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "consumer"}}, metav1.CreateOptions{})))
	m.greets(spoke, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "consumer"})
	issued, err := there.CreateToken(ctx, "consumer", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(m.t, err)
	m.secret(spoke, map[string][]byte{"token": []byte(issued.Status.Token)})
}

// giveRegistration brings the Secret in which OCM's agent keeps what the hub
// signed for it to the consumer, and has the ClusterProfile say so.
func (m multicluster) giveRegistration(spoke string) {
	m.t.Helper()
	ctx := m.t.Context()
	kept, err := kubernetes.NewForConfigOrDie(m.fleet.Spoke(spoke).Config).CoreV1().Secrets("open-cluster-management-agent").Get(ctx, "hub-kubeconfig-secret", metav1.GetOptions{})
	must(m.t, err)
	m.secret("agent-of-"+spoke, kept.Data)
	m.greets(spoke, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:open-cluster-management:" + spoke})
	profiles := m.sig.ApisV1alpha1().ClusterProfiles(m.namespace)
	must(m.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p, err := profiles.Get(ctx, spoke, metav1.GetOptions{})
		if err != nil {
			return err
		}
		provider := sig.AccessProvider{Name: "kubeconfig-secretreader", Cluster: *p.Status.AccessProviders[0].Cluster.DeepCopy()}
		provider.Cluster.Extensions = []clientcmdv1.NamedExtension{{
			Name:      "client.authentication.k8s.io/exec",
			Extension: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"name": "agent-of-%s", "key": "kubeconfig"}`, spoke)},
		}}
		p.Status.AccessProviders = append(p.Status.AccessProviders, provider)
		return created(profiles.UpdateStatus(ctx, p, metav1.UpdateOptions{}))
	}))
}

func (m multicluster) secret(name string, data map[string][]byte) {
	m.t.Helper()
	must(m.t, created(m.hub.core.CoreV1().Secrets(m.namespace).Create(m.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})))
}

// grant gives somebody a Role of their own.
func grant(t *testing.T, core kubernetes.Interface, namespace string, who rbacv1.Subject, rules ...rbacv1.PolicyRule) {
	t.Helper()
	rbac, at := core.RbacV1(), metav1.ObjectMeta{Name: "consumer"}
	must(t, created(rbac.Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: at, Rules: rules}, metav1.CreateOptions{})))
	must(t, created(rbac.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: at, Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "consumer"},
	}, metav1.CreateOptions{})))
}
