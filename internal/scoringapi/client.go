// Package scoringapi calls scoring APIs over HTTP, with their tokens. Its
// errors are *dynamic.Failure, and tell no token.
package scoringapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bounds of connections.
const (
	connectTimeout = 5 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeader      = 64 << 10
	connsPerHost   = 32
)

// Options of a Client.
type Options struct {
	Tokens Tokens
	// CAFile is of PEM certificates to trust, empty for the system's.
	CAFile string
	// Hosts, if any, are the only ones that are called.
	Hosts Hosts
	// UserAgent says who calls.
	UserAgent string
}

// Client calls scoring APIs. It follows no redirect, lest a token go
// elsewhere, and connects to no link-local address, where clouds give away
// credentials.
type Client struct {
	options Options
	http    *http.Client
}

// New returns a Client, or what is wrong with the options.
func New(o Options) (*Client, error) {
	if err := o.Hosts.Check(); err != nil {
		return nil, err
	}
	security := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, err
		}
		security.RootCAs = x509.NewCertPool()
		if !security.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", o.CAFile)
		}
	}
	dialer := &net.Dialer{Timeout: connectTimeout, Control: refuseLinkLocal}
	return &Client{options: o, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: security,
			TLSHandshakeTimeout: connectTimeout, MaxConnsPerHost: connsPerHost, MaxIdleConnsPerHost: connsPerHost,
			IdleConnTimeout: idleTimeout, MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

var errLinkLocal = errors.New("it is a link-local address, which is not called")

func refuseLinkLocal(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && (to.Addr().Unmap().IsLinkLocalUnicast() || to.Addr().IsMulticast()) {
		return errLinkLocal
	}
	return nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Token says whether the token can be read now.
func (c *Client) Token(ref schemas.TokenRef) error {
	_, err := c.options.Tokens.Read(ref)
	return err
}

// Get returns what url answers, at most limit bytes.
func (c *Client) Get(ctx context.Context, url string, limit int64) ([]byte, error) {
	return c.call(ctx, http.MethodGet, url, nil, nil, limit)
}

// Post posts JSON, with a bearer token unless ref is nil, and returns what is
// answered, at most limit bytes.
func (c *Client) Post(ctx context.Context, url string, ref *schemas.TokenRef, body []byte, limit int64) ([]byte, error) {
	return c.call(ctx, http.MethodPost, url, ref, body, limit)
}

func (c *Client) call(ctx context.Context, method, url string, ref *schemas.TokenRef, body []byte, limit int64) ([]byte, error) {
	request, err := c.request(ctx, method, url, ref, body)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return nil, failureOf(ctx, err, began)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, badStatus(response)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case int64(len(answer)) > limit:
		return nil, dynamic.Failf(dynamic.TooLarge, "the answer has more than %d bytes", limit)
	case err != nil:
		return nil, failureOf(ctx, fmt.Errorf("the answer broke off after %d bytes: %w", len(answer), err), began)
	}
	return answer, nil
}

func (c *Client) request(ctx context.Context, method, url string, ref *schemas.TokenRef, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, dynamic.Failf(dynamic.BadConfig, "the URL is not taken: %v", withoutURL(err))
	}
	if len(c.options.Hosts) > 0 {
		if err := c.options.Hosts.Permit(request.URL); err != nil {
			return nil, err
		}
	}
	request.Header.Set("User-Agent", c.options.UserAgent)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if ref != nil {
		token, err := c.options.Tokens.Read(*ref)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

func badStatus(response *http.Response) error {
	text := ""
	if start, err := io.ReadAll(io.LimitReader(response.Body, 200)); err == nil && len(start) > 0 {
		text = fmt.Sprintf(": %.120q", start)
	}
	switch response.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return dynamic.Failf(dynamic.BadStatus, "the answer is %s: does it want another token?%s", response.Status, text)
	}
	if to := response.Header.Get("Location"); to != "" {
		return dynamic.Failf(dynamic.BadStatus, "the answer is %s to %.200q: redirects are not followed, name the final address", response.Status, to)
	}
	return dynamic.Failf(dynamic.BadStatus, "the answer is %s%s", response.Status, text)
}

func failureOf(ctx context.Context, err error, began time.Time) error {
	var timeout net.Error
	switch {
	case errors.Is(err, errLinkLocal):
		return dynamic.Failf(dynamic.Forbidden, "%v", errLinkLocal)
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return dynamic.Failf(dynamic.Timeout, "there was no whole answer within %s", time.Since(began).Round(100*time.Millisecond))
	}
	return dynamic.Failf(dynamic.Unreachable, "%v", withoutURL(err))
}

// withoutURL takes the URL out of an error: who reads it knows it.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
