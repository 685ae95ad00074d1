package access_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	library "sigs.k8s.io/cluster-inventory-api/pkg/access"
	"sigs.k8s.io/cluster-inventory-api/pkg/credentialplugin"

	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/pkg/access"
)

// One API server is the hub and the cluster that is to be reached.
var server *hubtest.Hub

// asPlugin makes this test binary a program that gives credentials: the
// token in the file that it names.
const asPlugin = "SPOKEWIRE_ACCESS_PLUGIN"

type plugin struct{}

func (plugin) Name() string { return "test" }

func (plugin) GetToken(context.Context, clientauthenticationv1.ExecCredential) (clientauthenticationv1.ExecCredentialStatus, error) {
	token, err := os.ReadFile(os.Getenv(asPlugin))
	return clientauthenticationv1.ExecCredentialStatus{Token: string(token)}, err
}

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		credentialplugin.Run(plugin{})
		os.Exit(0)
	}
	os.Exit(hubtest.Main(m, &server))
}

// world is one test's namespace of a consumer, with a ServiceAccount that may
// list the namespaces of the API server.
type world struct {
	t     *testing.T
	core  kubernetes.Interface
	ns    string
	token string
}

func newWorld(t *testing.T, ns string) *world {
	t.Helper()
	w := &world{t: t, core: kubernetes.NewForConfigOrDie(server.Admin()), ns: ns}
	_, err := w.core.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
	w.must(err)
	accounts := w.core.CoreV1().ServiceAccounts(ns)
	_, err = accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "consumer"}}, metav1.CreateOptions{})
	w.must(err)
	w.mayList(rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: "consumer", Namespace: ns})
	issued, err := accounts.CreateToken(t.Context(), "consumer", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	w.must(err)
	w.token = issued.Status.Token
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mayList(who rbacv1.Subject) {
	w.t.Helper()
	rbac := w.core.RbacV1()
	name := w.ns + "-" + who.Name
	_, err := rbac.ClusterRoles().Create(w.t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{})
	w.must(err)
	_, err = rbac.ClusterRoleBindings().Create(w.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}, metav1.CreateOptions{})
	w.must(err)
}

func (w *world) secret(name string, data map[string]string) {
	w.t.Helper()
	_, err := w.core.CoreV1().Secrets(w.ns).Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: data}, metav1.CreateOptions{})
	w.must(err)
}

// profile is of the API server, with access providers NAME and what each is
// told.
func (w *world) profile(providers ...string) *sig.ClusterProfile {
	p := &sig.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "c"}}
	for i := 0; i < len(providers); i += 2 {
		a := sig.AccessProvider{Name: providers[i], Cluster: clientcmdv1.Cluster{
			Server: server.Admin().Host, CertificateAuthorityData: server.Admin().CAData,
		}}
		if told := providers[i+1]; told != "" {
			a.Cluster.Extensions = []clientcmdv1.NamedExtension{{Name: "client.authentication.k8s.io/exec", Extension: runtime.RawExtension{Raw: []byte(told)}}}
		}
		p.Status.AccessProviders = append(p.Status.AccessProviders, a)
	}
	return p
}

func (w *world) restConfig(p *sig.ClusterProfile, o access.Options) (*rest.Config, error) {
	return access.RestConfig(w.t.Context(), w.core.CoreV1(), p, o)
}

// works has who the configuration is for list the namespaces, and not the
// Secrets.
func (w *world) works(p *sig.ClusterProfile, o access.Options) {
	w.t.Helper()
	config, err := w.restConfig(p, o)
	w.must(err)
	client := kubernetes.NewForConfigOrDie(config)
	list, err := client.CoreV1().Namespaces().List(w.t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		w.t.Errorf("the namespaces are %v (%v)", list, err)
	}
	if _, err := client.CoreV1().Secrets(w.ns).List(w.t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		w.t.Errorf("reading Secrets gives %v, want Forbidden: it is another's configuration", err)
	}
}

func TestATokenOfAServiceAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	w.secret("c", map[string]string{"token": w.token + "\n"})
	w.works(w.profile("unknown", "", access.SecretReader, `{"clusterName": "c"}`), access.Options{})

	deprecated := w.profile(access.SecretReader, `{"clusterName": "c"}`)
	deprecated.Status.CredentialProviders, deprecated.Status.AccessProviders = deprecated.Status.AccessProviders, nil
	w.works(deprecated, access.Options{})

	elsewhere := w.profile(access.SecretReader, `{"clusterName": "c"}`)
	elsewhere.Namespace = "inventory"
	w.works(elsewhere, access.Options{Namespace: w.ns})
}

func TestATokenOfAManagedServiceAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "managed")
	w.secret("reader", map[string]string{"token": w.token, "ca.crt": string(server.Admin().CAData)})
	p := w.profile("anything", "")
	p.Name = w.ns // that of the cluster
	p.Status.AccessProviders[0].Cluster.CertificateAuthorityData = nil
	w.works(p, access.Options{ManagedServiceAccount: "reader"})

	p.Name, p.Labels = "other", map[string]string{"open-cluster-management.io/cluster-name": w.ns}
	w.works(p, access.Options{ManagedServiceAccount: "reader"})
}

func TestAKubeconfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "kubeconfig")
	user, err := server.AddUser("kubeconfig-user")
	w.must(err)
	w.mayList(rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "kubeconfig-user"})
	w.secret("inline", map[string]string{"kubeconfig": string(user.Kubeconfig)})
	w.works(w.profile(access.KubeconfigSecretReader, `{"name": "inline", "key": "kubeconfig"}`), access.Options{})
	w.works(w.profile(access.KubeconfigSecretReader, fmt.Sprintf(`{"name": "inline", "key": "kubeconfig", "namespace": %q}`, w.ns)), access.Options{})

	// What is asked for first has no Secret.
	w.works(w.profile(access.SecretReader, `{"clusterName": "gone"}`, access.KubeconfigSecretReader, `{"name": "inline", "key": "kubeconfig"}`), access.Options{})

	// OCM's registration keeps the certificate beside its kubeconfig.
	w.secret("hub-kubeconfig-secret", map[string]string{
		"kubeconfig": string(write(t, clientcmdapi.AuthInfo{ClientCertificate: "tls.crt", ClientKey: "/spoke/hub-kubeconfig/tls.key"})),
		"tls.crt":    string(user.Config.CertData), "tls.key": string(user.Config.KeyData),
	})
	w.works(w.profile(access.KubeconfigSecretReader, `{"name": "hub-kubeconfig-secret", "key": "kubeconfig", "context": "main"}`), access.Options{})
}

func write(t *testing.T, user clientcmdapi.AuthInfo) []byte {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.AuthInfos["user"] = &user
	config.Contexts["main"] = &clientcmdapi.Context{AuthInfo: "user", Cluster: "elsewhere"}
	config.Clusters["elsewhere"] = &clientcmdapi.Cluster{Server: "https://elsewhere"}
	config.CurrentContext = "main"
	text, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "program")
	file := t.TempDir() + "/token"
	w.must(os.WriteFile(file, []byte(w.token), 0o600))
	options := access.Options{Providers: []library.Provider{{Name: "ours", ExecConfig: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: os.Args[0], ProvideClusterInfo: true,
		Env: []clientcmdapi.ExecEnvVar{{Name: asPlugin, Value: file}},
	}, ProfileSourcedCLIArgsPolicy: library.ProfileSourcedCLIArgsPolicyAppend}}}
	p := w.profile("ours", "", access.SecretReader, `{"clusterName": "missing"}`)
	p.Status.AccessProviders[0].Cluster.Extensions = []clientcmdv1.NamedExtension{
		{Name: "clusterprofiles.multicluster.x-k8s.io/exec/additional-args", Extension: runtime.RawExtension{Raw: []byte(`["-x"]`)}},
	}
	w.works(p, options)
	w.works(p, options)
	if args := options.Providers[0].ExecConfig.Args; len(args) > 0 {
		t.Errorf("the caller's program has grown the arguments %v", args)
	}
	p.Status.AccessProviders[0].Cluster.TLSServerName = "kubernetes.default"
	config, err := w.restConfig(p, options)
	if err != nil || config.ServerName != "kubernetes.default" {
		t.Errorf("the configuration is %+v (%v)", config, err)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "errors")
	const never = "bm90IHRvIGJlIHNlZW4" // in every Secret
	user, err := server.AddUser("errors-user")
	w.must(err)
	kubeconfig := func(u clientcmdapi.AuthInfo) string { return string(write(t, u)) }
	w.secret("c", map[string]string{"token": " ", "other": never})
	w.secret("kubeconfigs", map[string]string{
		"broken":       "users: [" + never,
		"program":      kubeconfig(clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: never, APIVersion: "v1"}}),
		"password":     kubeconfig(clientcmdapi.AuthInfo{Username: "u", Password: never}),
		"impersonates": kubeconfig(clientcmdapi.AuthInfo{Token: never, Impersonate: "admin"}),
		"group":        kubeconfig(clientcmdapi.AuthInfo{Token: never, ImpersonateGroups: []string{"readers"}}),
		"nothing":      kubeconfig(clientcmdapi.AuthInfo{}),
		"file":         kubeconfig(clientcmdapi.AuthInfo{TokenFile: "/etc/passwd"}),
		"half":         kubeconfig(clientcmdapi.AuthInfo{ClientCertificateData: user.Config.CertData}),
	})
	const told = `{"clusterName": "c"}`
	in := func(key string) *sig.ClusterProfile {
		return w.profile(access.KubeconfigSecretReader, fmt.Sprintf(`{"name": "kubeconfigs", "key": %q}`, key))
	}
	with := func(change func(*clientcmdv1.Cluster)) *sig.ClusterProfile {
		p := w.profile(access.SecretReader, told)
		change(&p.Status.AccessProviders[0].Cluster)
		return p
	}
	const first = "status.accessProviders[0].cluster."
	tests := map[string]struct {
		profile *sig.ClusterProfile
		options access.Options
		kind    error
		field   string
	}{
		"no provider":            {profile: w.profile(), kind: access.ErrNoProvider, field: "status.accessProviders"},
		"an unknown provider":    {profile: w.profile("cloud", ""), kind: access.ErrNoProvider, field: "status.accessProviders"},
		"nowhere to go":          {profile: w.profile(), options: access.Options{ManagedServiceAccount: "m"}, kind: access.ErrNoProvider, field: "status.accessProviders"},
		"no server":              {profile: with(func(c *clientcmdv1.Cluster) { c.Server = "" }), kind: access.ErrInvalid, field: first + "server"},
		"no URL":                 {profile: with(func(c *clientcmdv1.Cluster) { c.Server = "c:6443" }), kind: access.ErrInvalid, field: first + "server"},
		"without TLS":            {profile: with(func(c *clientcmdv1.Cluster) { c.Server = "http://c" }), kind: access.ErrInsecure, field: first + "server"},
		"a user in the URL":      {profile: with(func(c *clientcmdv1.Cluster) { c.Server = "https://u:p@c" }), kind: access.ErrInsecure, field: first + "server"},
		"no check":               {profile: with(func(c *clientcmdv1.Cluster) { c.InsecureSkipTLSVerify = true }), kind: access.ErrInsecure, field: first + "insecure-skip-tls-verify"},
		"a file of this machine": {profile: with(func(c *clientcmdv1.Cluster) { c.CertificateAuthority = "/ca" }), kind: access.ErrInsecure, field: first + "certificate-authority"},
		"a bad proxy":            {profile: with(func(c *clientcmdv1.Cluster) { c.ProxyURL = "proxy" }), kind: access.ErrInvalid, field: first + "proxy-url"},
		"an unknown proxy":       {profile: with(func(c *clientcmdv1.Cluster) { c.ProxyURL = "ftp://proxy" }), kind: access.ErrInvalid, field: first + "proxy-url"},
		"told nothing":           {profile: w.profile(access.SecretReader, ""), kind: access.ErrInvalid, field: first + "extensions"},
		"told no JSON object":    {profile: w.profile(access.SecretReader, `["c"]`), kind: access.ErrInvalid, field: first + "extensions[0].extension"},
		"told no name":           {profile: w.profile(access.SecretReader, `{}`), kind: access.ErrInvalid, field: first + "extensions"},
		"told no key":            {profile: w.profile(access.KubeconfigSecretReader, `{"name": "x"}`), kind: access.ErrInvalid, field: first + "extensions"},
		"no such Secret":         {profile: w.profile(access.SecretReader, `{"clusterName": "gone"}`), kind: access.ErrSecret},
		"nor another one":        {profile: w.profile(access.SecretReader, `{"clusterName": "gone"}`, "cloud", "", access.KubeconfigSecretReader, `{"name": "gone", "key": "k"}`), kind: access.ErrSecret},
		"a bad one first":        {profile: w.profile(access.SecretReader, told, access.KubeconfigSecretReader, `{"name": "kubeconfigs", "key": "nothing"}`), kind: access.ErrInvalid, field: "data[token]"},
		"an empty token":         {profile: w.profile(access.SecretReader, told), kind: access.ErrInvalid, field: "data[token]"},
		"another's namespace": {
			profile: w.profile(access.KubeconfigSecretReader, `{"name": "x", "key": "y", "namespace": "kube-system"}`), kind: access.ErrNotAllowed, field: first + "extensions",
		},
		"a program without configuration": {
			profile: w.profile("ours", ""), options: access.Options{Providers: []library.Provider{{Name: "ours"}}}, kind: access.ErrInvalid, field: "status.accessProviders[0].name",
		},
		"no such key":         {profile: in("gone"), kind: access.ErrInvalid, field: "data[gone]"},
		"no kubeconfig":       {profile: in("broken"), kind: access.ErrInvalid, field: "data[broken]"},
		"runs a program":      {profile: in("program"), kind: access.ErrInvalid, field: "data[program]"},
		"has a password":      {profile: in("password"), kind: access.ErrInvalid, field: "data[password]"},
		"impersonates":        {profile: in("impersonates"), kind: access.ErrInvalid, field: "data[impersonates]"},
		"as a group":          {profile: in("group"), kind: access.ErrInvalid, field: "data[group]"},
		"no credentials":      {profile: in("nothing"), kind: access.ErrInvalid, field: "data[nothing]"},
		"a file elsewhere":    {profile: in("file"), kind: access.ErrInvalid, field: "data[file]"},
		"a certificate alone": {profile: in("half"), kind: access.ErrInvalid, field: "data[half]"},
		"no such context": {
			profile: w.profile(access.KubeconfigSecretReader, `{"name": "kubeconfigs", "key": "nothing", "context": "gone"}`), kind: access.ErrInvalid, field: "data[nothing]",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := access.RestConfig(t.Context(), w.core.CoreV1(), tt.profile, tt.options)
			var said *access.Error
			if config != nil || !errors.As(err, &said) || slices.Contains(said.Unwrap(), nil) || !errors.Is(err, tt.kind) || said.Field != tt.field || said.Object == "" {
				t.Errorf("got %v (%v), want %v of %s", err, config != nil, tt.kind, tt.field)
			}
			plain, _ := base64.RawStdEncoding.DecodeString(never)
			if text := fmt.Sprint(err); strings.Contains(text, never) || strings.Contains(text, string(plain)) {
				t.Errorf("the error tells a secret: %s", text)
			}
		})
	}
	if _, err := w.restConfig(w.profile(access.SecretReader, `{"clusterName": "gone"}`), access.Options{}); !apierrors.IsNotFound(err) {
		t.Errorf("the API server's answer is lost in %v", err)
	}
}
