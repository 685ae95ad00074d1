package access

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	library "sigs.k8s.io/cluster-inventory-api/pkg/access"
)

// Access providers that need no program. What they are told stands in the
// profile's extension client.authentication.k8s.io/exec.
const (
	// SecretReader reads a token, from key "token" of the Secret that
	// {"clusterName": NAME} names.
	SecretReader = "secretreader"
	// KubeconfigSecretReader reads a kubeconfig's user, from the Secret that
	// {"name": NAME, "key": KEY, "namespace": NS, "context": CONTEXT} names;
	// the last two are optional.
	KubeconfigSecretReader = "kubeconfig-secretreader"
)

const readTimeout = 10 * time.Second

const extensionExec = "client.authentication.k8s.io/exec"

// labelClusterName is OCM's, on the ClusterProfiles that are made of
// ManagedClusters.
const labelClusterName = "open-cluster-management.io/cluster-name"

// Options say what the caller knows and allows. The zero value reads Secrets
// in the profile's own namespace.
type Options struct {
	// Providers are programs that give credentials, each for the access
	// provider of its name. They go before what this package does itself.
	Providers []library.Provider
	// Namespace is where Secrets are whose namespace the profile does not
	// name: the consumer's own. Default: the profile's.
	Namespace string
	// Allowed are further namespaces whose Secrets a profile may name.
	Allowed []string
	// ManagedServiceAccount is the name of an OCM ManagedServiceAccount. Its
	// token is in the Secret of that name in the namespace of the cluster's
	// name; the profile says where the API server is.
	ManagedServiceAccount string
}

// RestConfig returns a configuration for the API server of profile. secrets
// reads the hub's Secrets, for instance a clientset's CoreV1(); the call ends
// with ctx or after ten seconds.
//
// Tokens out of Secrets are as old as the Secret: where they are rotated, ask
// anew when the API server answers 401, or now and then. Programs of
// Options.Providers are run by client-go when the configuration is used, and
// again when what they gave expires.
//
// Every error is an *Error.
func RestConfig(ctx context.Context, secrets corev1client.SecretsGetter, profile *sig.ClusterProfile, o Options) (*rest.Config, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	r := &reader{secrets: secrets, profile: profile, options: o}
	config, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	return config, nil
}

// reader reads the credentials for one profile.
type reader struct {
	secrets corev1client.SecretsGetter
	profile *sig.ClusterProfile
	options Options
}

// read returns what it has, together with an error.
func (r *reader) read(ctx context.Context) (*rest.Config, error) {
	if r.options.ManagedServiceAccount != "" {
		return r.managed(ctx)
	}
	err := r.noProvider()
	for _, p := range r.providers() {
		config, reason := r.by(ctx, p)
		switch {
		case errors.Is(reason, errUnknown):
		case !apierrors.IsNotFound(reason):
			return config, reason
		case errors.Is(err, ErrNoProvider):
			err = reason // the first Secret that is missing
		}
	}
	return nil, err
}

// errUnknown: the provider is of another name than is known here.
var errUnknown = errors.New("unknown")

// by returns what one provider gives.
func (r *reader) by(ctx context.Context, p provider) (*rest.Config, error) {
	if program := r.program(p.name); program != nil {
		return r.execute(p, *program)
	}
	switch p.name {
	case SecretReader:
		return r.token(ctx, p)
	case KubeconfigSecretReader:
		return r.kubeconfig(ctx, p)
	}
	return nil, errUnknown
}

// provider is one of the profile's, and where it stands in it.
type provider struct {
	name  string
	field string
	sig.AccessProvider
}

// providers are those of the profile, in order; those under the deprecated
// name of the field come last.
func (r *reader) providers() []provider {
	var out []provider
	add := func(field string, list []sig.AccessProvider) {
		for i, p := range list {
			out = append(out, provider{p.Name, fmt.Sprintf("%s[%d]", field, i), p})
		}
	}
	add("status.accessProviders", r.profile.Status.AccessProviders)
	add("status.credentialProviders", r.profile.Status.CredentialProviders)
	return out
}

func (r *reader) program(name string) *library.Provider {
	i := slices.IndexFunc(r.options.Providers, func(p library.Provider) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &r.options.Providers[i]
}

// execute leaves the credentials to a program. The library writes into what
// it is given, so it gets copies.
func (r *reader) execute(p provider, program library.Provider) (*rest.Config, error) {
	base, err := r.server(p)
	if err != nil {
		return nil, err
	}
	if program.ExecConfig == nil {
		return nil, r.invalid(p.field+".name", "Options.Providers has "+p.name+" without ExecConfig")
	}
	program.ExecConfig = program.ExecConfig.DeepCopy()
	profile := r.profile.DeepCopy()
	profile.Status.AccessProviders, profile.Status.CredentialProviders = []sig.AccessProvider{p.AccessProvider}, nil
	built, err := library.New([]library.Provider{program}).BuildConfigFromCP(profile)
	if err != nil {
		return nil, &Error{Object: r.object(), Field: p.field + ".cluster.extensions", Kind: ErrInvalid, Cause: err}
	}
	base.ExecProvider = built.ExecProvider
	return base, nil
}

// token is what SecretReader gives.
func (r *reader) token(ctx context.Context, p provider) (*rest.Config, error) {
	config, err := r.server(p)
	if err != nil {
		return nil, err
	}
	var told struct {
		ClusterName string `json:"clusterName"`
	}
	if err := r.told(p, &told); err != nil {
		return nil, err
	}
	if told.ClusterName == "" {
		return nil, r.invalid(p.field+".cluster.extensions", extensionExec+" has no clusterName")
	}
	s, err := r.secret(ctx, r.namespace(), told.ClusterName)
	if err != nil {
		return nil, err
	}
	config.BearerToken, err = s.text("token")
	return config, err
}

// managed is what OCM's add-on managed-serviceaccount gives.
func (r *reader) managed(ctx context.Context) (*rest.Config, error) {
	providers := r.providers()
	if len(providers) == 0 {
		return nil, r.noProvider()
	}
	config, err := r.server(providers[0])
	if err != nil {
		return nil, err
	}
	cluster := cmp.Or(r.profile.Labels[labelClusterName], r.profile.Name)
	s, err := r.secret(ctx, cluster, r.options.ManagedServiceAccount)
	if err != nil {
		return nil, err
	}
	if len(config.CAData) == 0 {
		config.CAData = s.data["ca.crt"]
	}
	config.BearerToken, err = s.text("token")
	return config, err
}

// told decodes what the profile tells the provider.
func (r *reader) told(p provider, into any) error {
	for i, e := range p.Cluster.Extensions {
		if e.Name != extensionExec {
			continue
		}
		if err := json.Unmarshal(e.Extension.Raw, into); err != nil {
			return &Error{Object: r.object(), Field: fmt.Sprintf("%s.cluster.extensions[%d].extension", p.field, i), Kind: ErrInvalid, Cause: err}
		}
		return nil
	}
	return r.invalid(p.field+".cluster.extensions", "there is none named "+extensionExec+", which says what to read")
}

func (r *reader) namespace() string { return cmp.Or(r.options.Namespace, r.profile.Namespace) }

func (r *reader) object() string {
	return "ClusterProfile " + r.profile.Namespace + "/" + r.profile.Name
}

func (r *reader) invalid(field, detail string) error {
	return &Error{Object: r.object(), Field: field, Kind: ErrInvalid, Detail: detail}
}

func (r *reader) noProvider() error {
	names := []string{}
	for _, p := range r.providers() {
		names = append(names, p.name)
	}
	detail := fmt.Sprintf("it names %q; known are %s, %s and those of Options.Providers", names, SecretReader, KubeconfigSecretReader)
	return &Error{Object: r.object(), Field: "status.accessProviders", Kind: ErrNoProvider, Detail: detail}
}
