package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/authority"
	"github.com/spokewire/spokewire/internal/secretfile"
)

// Users of the hub.
const (
	adminUser = "spokewire-admin"
	ocmUser   = "open-cluster-management-placement"
	// adminGroup may do everything.
	adminGroup = "system:masters"
)

// prepareHub writes what etcd, the API server and its clients need. etcd has
// an authority of its own: it takes everyone who has a certificate of it for
// its master.
func (d deployed) prepareHub(o PrepareOptions, now time.Time) error {
	store, err := d.keepAuthority("etcd", now)
	if err != nil {
		return err
	}
	hub, err := d.keepAuthority("hub", now)
	if err != nil {
		return err
	}
	if err := d.prepareEtcd(o, store, now); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	if err := d.prepareAPIServer(o, store, hub, now); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	if err := d.prepareOCM(hub, now); err != nil {
		return fmt.Errorf("%s: %w", ProcessOCM, err)
	}
	for _, u := range []struct{ part, address, user, group string }{
		{partPopulate, o.Hub, adminUser, adminGroup},
		{partOperator, o.OperatorHub, adminUser, adminGroup},
		{access.HubBridge, o.Hub, bridgeUser, ""},
		{ProcessOCM, o.Hub, ocmUser, ""},
	} {
		if err := d.writeKubeconfig(hub, now, u.part, u.address, u.user, u.group); err != nil {
			return fmt.Errorf("kubeconfig of %s: %w", u.part, err)
		}
	}
	return nil
}

func (d deployed) prepareEtcd(o PrepareOptions, store *authority.Authority, now time.Time) error {
	host, _, err := splitAddress(o.Etcd)
	if err != nil {
		return err
	}
	server, err := store.Server(now, host, "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	return errors.Join(
		d.secret(partEtcd, fileCA, store.Pair().Cert),
		d.pair(partEtcd, "server", server),
	)
}

func (d deployed) prepareAPIServer(o PrepareOptions, store, hub *authority.Authority, now time.Time) error {
	inside, _, err := splitAddress(o.Hub)
	if err != nil {
		return err
	}
	outside, _, err := splitAddress(o.OperatorHub)
	if err != nil {
		return err
	}
	server, err := hub.Server(now, inside, outside, "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	client, err := store.Client(now, partAPIServer)
	if err != nil {
		return err
	}
	// The API server takes a public key out of a certificate.
	tokens, err := d.keepAuthority("tokens", now)
	if err != nil {
		return err
	}
	return errors.Join(
		d.secret(partAPIServer, fileCA, hub.Pair().Cert),
		d.pair(partAPIServer, "server", server),
		d.secret(partAPIServer, "etcd-ca.crt", store.Pair().Cert),
		d.pair(partAPIServer, "etcd-client", client),
		d.pair(partAPIServer, "tokens", tokens.Pair()),
	)
}

// ocmConfig has OCM's controller serve its health with a certificate that
// can be checked. Nobody but its own health check can reach the port.
const ocmConfig = `apiVersion: operator.openshift.io/v1alpha1
kind: GenericOperatorConfig
servingInfo:
  bindAddress: 127.0.0.1:8443
  certFile: %[1]s/server.crt
  keyFile: %[1]s/server.key
`

func (d deployed) prepareOCM(hub *authority.Authority, now time.Time) error {
	server, err := hub.Server(now, "127.0.0.1")
	if err != nil {
		return err
	}
	return errors.Join(
		d.secret(ProcessOCM, fileCA, hub.Pair().Cert),
		d.pair(ProcessOCM, "server", server),
		d.secret(ProcessOCM, "config.yaml", fmt.Appendf(nil, ocmConfig, d.secrets(ProcessOCM))),
	)
}

// keepAuthority returns the authority of that name, made at the first time.
func (d deployed) keepAuthority(name string, now time.Time) (*authority.Authority, error) {
	cert, key := filepath.Join(d.authority(), name+".crt"), filepath.Join(d.authority(), name+".key")
	certText, err := os.ReadFile(cert)
	if errors.Is(err, fs.ErrNotExist) {
		a, err := authority.New("spokewire-"+name, now)
		if err != nil {
			return nil, err
		}
		// The certificate last: where it is, the key is too.
		return a, errors.Join(secretfile.Replace(key, a.Pair().Key), secretfile.Replace(cert, a.Pair().Cert))
	}
	if err != nil {
		return nil, err
	}
	keyText, err := os.ReadFile(key)
	if err != nil {
		return nil, err
	}
	a, err := authority.Parse(authority.Pair{Cert: certText, Key: keyText})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cert, err)
	}
	return a, nil
}

func (d deployed) writeKubeconfig(hub *authority.Authority, now time.Time, part, address, user, group string) error {
	var groups []string
	if group != "" {
		groups = []string{group}
	}
	client, err := hub.Client(now, user, groups...)
	if err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: hub.Pair().Cert}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: client.Cert, ClientKeyData: client.Key}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: user}
	config.CurrentContext = "hub"
	text, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return d.secret(part, fileKubeconfig, text)
}
