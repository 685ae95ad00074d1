package stack

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/spokewire/spokewire/internal/authority"
	"github.com/spokewire/spokewire/internal/secretfile"
)

// deployed is the directory that the containers of a stack share the parts
// of: authority/ is for prepare alone, secrets/PART for prepare and PART.
type deployed string

// Parts that are no process of a local stack.
const (
	partEtcd      = "etcd"
	partAPIServer = "kube-apiserver"
	partPopulate  = "populate"
	partOperator  = "operator"
)

// Names of files below secrets/PART.
const (
	fileURL        = "nats-url"
	fileAdmin      = "admin-url"
	fileReadAdmin  = "read-admin-url"
	fileKubeconfig = "kubeconfig"
	fileCA         = "ca.crt"
)

// Where nats-server keeps its streams and tells of its health.
const (
	natsStore   = "/data/nats"
	natsMonitor = "127.0.0.1:8222"
)

func (d deployed) authority() string          { return filepath.Join(string(d), "authority") }
func (d deployed) secrets(part string) string { return filepath.Join(string(d), "secrets", part) }

// private makes a directory that its owner alone can look into.
func (d deployed) private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// secret writes secrets/PART/NAME.
func (d deployed) secret(part, name string, text []byte) error {
	if err := d.private(d.secrets(part)); err != nil {
		return err
	}
	return secretfile.Replace(filepath.Join(d.secrets(part), name), text)
}

func (d deployed) pair(part, name string, p authority.Pair) error {
	return errors.Join(d.secret(part, name+".crt", p.Cert), d.secret(part, name+".key", p.Key))
}

func splitAddress(address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err == nil && (host == "" || port == "") {
		err = fmt.Errorf("%q: want HOST:PORT", address)
	}
	return host, port, err
}
