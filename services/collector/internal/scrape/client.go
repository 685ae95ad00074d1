package scrape

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"

	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// maxHeaderBytes bounds the headers of an answer.
const maxHeaderBytes = 64 << 10

// newClient returns a client that asks for gzip, goes through no proxy
// (targets are neighbours) and follows no redirect (a token must not go
// elsewhere).
func newClient(source config.Source) (*http.Client, error) {
	security, err := newTLS(source.TLS)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:        security,
			MaxConnsPerHost:        1,
			IdleConnTimeout:        idle,
			MaxResponseHeaderBytes: maxHeaderBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func newTLS(o config.TLS) (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: o.InsecureSkipVerify, //nolint:gosec // the user asked for it by name
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, &schemas.FieldError{Field: "tls.caFile", Reason: "cannot be read: " + err.Error()}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &schemas.FieldError{Field: "tls.caFile", Reason: fmt.Sprintf("%s holds no certificate in PEM", o.CAFile)}
		}
	}
	if o.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile); err != nil {
			return nil, &schemas.FieldError{Field: "tls.certFile", Reason: "cannot be used: " + err.Error()}
		}
		// Read at each handshake, for certificates are renewed.
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
			return &pair, err
		}
	}
	return c, nil
}
