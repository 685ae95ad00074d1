// Package authority is a small certificate authority for a hub that has no
// other: it signs the certificates of one API server, its store and their
// clients.
package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// How long certificates are valid. A clock that is a little slow must take a
// new one too.
const (
	authorityLifetime = 10 * 365 * 24 * time.Hour
	lifetime          = 365 * 24 * time.Hour
	skew              = 5 * time.Minute
)

// PEM block types.
const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// Pair is a certificate and its private key, both PEM.
type Pair struct{ Cert, Key []byte }

// Authority signs certificates.
type Authority struct {
	pair Pair
	cert *x509.Certificate
	key  crypto.Signer
}

// New makes an authority that is valid for ten years from now.
func New(name string, now time.Time) (*Authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	pair, err := sign(template, nil)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	return Parse(pair)
}

// Parse returns the authority that Pair returned.
func Parse(pair Pair) (*Authority, error) {
	certificate, _ := pem.Decode(pair.Cert)
	key, _ := pem.Decode(pair.Key)
	if certificate == nil || key == nil {
		return nil, errors.New("authority: no PEM block in its certificate or key")
	}
	cert, err := x509.ParseCertificate(certificate.Bytes)
	if err != nil {
		return nil, fmt.Errorf("certificate of the authority: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(key.Bytes)
	if err != nil {
		return nil, fmt.Errorf("key of the authority: %w", err)
	}
	signer, ok := parsed.(crypto.Signer)
	if !ok || !cert.IsCA {
		return nil, errors.New("authority: its certificate or key cannot sign")
	}
	return &Authority{pair: pair, cert: cert, key: signer}, nil
}

// Pair is the authority's own certificate, and the key that makes it one.
func (a *Authority) Pair() Pair { return a.pair }

// Server signs for a server that is reached by these names and IP addresses,
// for a year from now.
func (a *Authority) Server(now time.Time, hosts ...string) (Pair, error) {
	if len(hosts) == 0 {
		return Pair{}, errors.New("a server's certificate needs a host")
	}
	template := a.leaf(now, pkix.Name{CommonName: hosts[0]}, x509.ExtKeyUsageServerAuth)
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return sign(template, a)
}

// Client signs for a user and the groups that it belongs to, for a year from
// now.
func (a *Authority) Client(now time.Time, user string, groups ...string) (Pair, error) {
	subject := pkix.Name{CommonName: user, Organization: groups} //nolint:misspell // the standard library's spelling
	return sign(a.leaf(now, subject, x509.ExtKeyUsageClientAuth), a)
}

func (a *Authority) leaf(now time.Time, subject pkix.Name, usage x509.ExtKeyUsage) *x509.Certificate {
	return &x509.Certificate{
		Subject:     subject,
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
}

func newKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}

// serialBits is more than the 64 random bits that a serial number needs.
const serialBits = 120

// sign signs template as by, or as itself without one.
func sign(template *x509.Certificate, by *Authority) (Pair, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return Pair{}, err
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der}), Key: keyPEM}, nil
}
