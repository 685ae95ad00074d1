package access

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// secret is a Secret that was read.
type secret struct {
	object string
	data   map[string][]byte
}

func (r *reader) secret(ctx context.Context, namespace, name string) (*secret, error) {
	object := "Secret " + namespace + "/" + name
	s, err := r.secrets.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, &Error{Object: object, Kind: ErrSecret, Cause: err}
	}
	return &secret{object: object, data: s.Data}, nil
}

// text is the value of a key, without space around it.
func (s *secret) text(key string) (string, error) {
	text := strings.TrimSpace(string(s.data[key]))
	if text == "" {
		return "", s.invalid(key, "it is empty or missing")
	}
	return text, nil
}

func (s *secret) invalid(key, detail string) error {
	return &Error{Object: s.object, Field: "data[" + key + "]", Kind: ErrInvalid, Detail: detail}
}

// toldKubeconfig is what KubeconfigSecretReader is told.
type toldKubeconfig struct {
	Name      string `json:"name"`
	Key       string `json:"key"`
	Namespace string `json:"namespace"`
	Context   string `json:"context"`
}

// kubeconfig is what KubeconfigSecretReader gives: the user of the Secret at
// the server of the profile.
func (r *reader) kubeconfig(ctx context.Context, p provider) (*rest.Config, error) {
	config, err := r.server(p)
	if err != nil {
		return nil, err
	}
	var told toldKubeconfig
	if err := r.told(p, &told); err != nil {
		return nil, err
	}
	if told.Name == "" || told.Key == "" {
		return nil, r.invalid(p.field+".cluster.extensions", extensionExec+" must say name and key of a Secret")
	}
	namespace, err := r.allowed(p, told)
	if err != nil {
		return nil, err
	}
	s, err := r.secret(ctx, namespace, told.Name)
	if err != nil {
		return nil, err
	}
	user, err := s.user(told)
	if err != nil {
		return nil, err
	}
	return config, s.identify(config, told.Key, user)
}

// allowed is the namespace of the Secret that the profile names.
func (r *reader) allowed(p provider, told toldKubeconfig) (string, error) {
	switch {
	case told.Namespace == "":
		return r.namespace(), nil
	case told.Namespace == r.namespace(), told.Namespace == r.profile.Namespace, slices.Contains(r.options.Allowed, told.Namespace):
		return told.Namespace, nil
	}
	return "", &Error{
		Object: r.object(), Field: p.field + ".cluster.extensions", Kind: ErrNotAllowed,
		Detail: "it names Secret " + told.Namespace + "/" + told.Name + "; allow the namespace by Options.Allowed",
	}
}

// user is that of the kubeconfig's context. What the parser says is left
// out, for it may quote what it cannot read.
func (s *secret) user(told toldKubeconfig) (*clientcmdapi.AuthInfo, error) {
	loaded, err := clientcmd.Load(s.data[told.Key])
	if err != nil || len(s.data[told.Key]) == 0 {
		return nil, s.invalid(told.Key, "it is no kubeconfig")
	}
	name := told.Context
	if name == "" {
		name = loaded.CurrentContext
	}
	chosen := loaded.Contexts[name]
	if chosen == nil {
		return nil, s.invalid(told.Key, "it has no context \""+name+"\"")
	}
	user := loaded.AuthInfos[chosen.AuthInfo]
	if user == nil {
		return nil, s.invalid(told.Key, "it has no user \""+chosen.AuthInfo+"\"")
	}
	return user, nil
}

// identify puts the user's credentials into config. Files that the
// kubeconfig names are keys of the same Secret, never files of this machine.
func (s *secret) identify(config *rest.Config, key string, user *clientcmdapi.AuthInfo) error {
	switch {
	case user.Exec != nil, user.AuthProvider != nil:
		return s.invalid(key, "its user runs a program; name it by Options.Providers")
	case user.Impersonate != "", user.ImpersonateUID != "", len(user.ImpersonateGroups) > 0, len(user.ImpersonateUserExtra) > 0, user.Username != "":
		return s.invalid(key, "its user impersonates or has a password; give it a token or a certificate")
	}
	config.BearerToken = user.Token
	if user.Token == "" {
		config.BearerToken = strings.TrimSpace(string(s.beside(user.TokenFile)))
	}
	config.CertData, config.KeyData = user.ClientCertificateData, user.ClientKeyData
	if len(config.CertData) == 0 {
		config.CertData = s.beside(user.ClientCertificate)
	}
	if len(config.KeyData) == 0 {
		config.KeyData = s.beside(user.ClientKey)
	}
	if len(config.CertData)+len(config.KeyData) > 0 {
		if _, err := tls.X509KeyPair(config.CertData, config.KeyData); err != nil {
			return s.invalid(key, "its certificate and its key do not belong together, or one of them is missing")
		}
		return nil
	}
	if config.BearerToken == "" {
		return s.invalid(key, "its user has no token and no certificate in this Secret")
	}
	return nil
}

// beside is the key of the Secret that a file's name stands for.
func (s *secret) beside(file string) []byte {
	return s.data[file[strings.LastIndexByte(file, '/')+1:]]
}
