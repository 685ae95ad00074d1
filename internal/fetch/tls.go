package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// TLS is for https. Its files are read again when they change.
type TLS struct {
	CAFile            string // default: the system's CAs
	CertFile, KeyFile string
	// InsecureSkipVerify takes any certificate.
	InsecureSkipVerify bool
}

// check names the field of a file that cannot be used.
func (t TLS) check() error {
	if t.CertFile == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile); err != nil {
		return &schemas.FieldError{Field: "tls.certFile", Reason: "cannot be used: " + err.Error()}
	}
	return nil
}

func (t TLS) config(trusted *x509.CertPool) *tls.Config {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            trusted,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // the user asked for it by name
	}
	if t.CertFile != "" {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			return &pair, err
		}
	}
	return c
}

// authorities are what a CA file holds, nil for the system's.
type authorities struct {
	file os.FileInfo
	pool *x509.CertPool
}

// reload returns what the file at path holds, which is a itself as long as
// the file has not changed.
func (a authorities) reload(path string) (authorities, error) {
	if path == "" {
		return authorities{}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return a, &schemas.FieldError{Field: "tls.caFile", Reason: "cannot be read: " + err.Error()}
	}
	if a.file != nil && os.SameFile(a.file, info) && a.file.ModTime().Equal(info.ModTime()) && a.file.Size() == info.Size() {
		return a, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return a, &schemas.FieldError{Field: "tls.caFile", Reason: "cannot be read: " + err.Error()}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return a, &schemas.FieldError{Field: "tls.caFile", Reason: fmt.Sprintf("%s holds no certificate in PEM", path)}
	}
	return authorities{file: info, pool: pool}, nil
}

func (a authorities) same(b authorities) bool { return a.pool == b.pool }
