// Package fetch asks a neighbour over HTTP. Whatever the neighbour does, an
// attempt holds no more than its limit of bytes, and each error says of what
// class it is. Tokens, certificates and CAs come from files that may be
// replaced while the process runs.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/failure"
)

const (
	// maxHeaderBytes bounds the headers of an answer.
	maxHeaderBytes = 64 << 10
	// maxRefusal bounds what is read of an answer that is not 200.
	maxRefusal = 64 << 10
	// idle is how long an unused connection is kept: longer than any usual
	// interval.
	idle = 2 * time.Minute
)

// Options of a Client.
type Options struct {
	// BearerTokenFile is read for every request, for tokens expire.
	BearerTokenFile string
	TLS             TLS
	// MaxBytes bounds an answer, unpacked.
	MaxBytes int64
	// UserAgent says who asks.
	UserAgent string
}

// Client asks. It goes through no proxy (those asked are neighbours) and
// follows no redirect (a token must not go elsewhere). Its methods may be
// called from many goroutines, which then wait for one another.
type Client struct {
	options Options

	mu    sync.Mutex
	ca    authorities // what client trusts
	inner *http.Client
}

// New returns a Client. The error names the field that is wrong.
func New(o Options) (*Client, error) {
	if err := o.TLS.check(); err != nil {
		return nil, err
	}
	c := &Client{options: o}
	if _, err := c.client(); err != nil {
		return nil, err
	}
	return c, nil
}

// Close closes idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inner.CloseIdleConnections()
}

// client returns the client that trusts what the CA file says now.
func (c *Client) client() (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ca, err := c.ca.reload(c.options.TLS.CAFile)
	if err != nil {
		return nil, err
	}
	if c.inner != nil && ca.same(c.ca) {
		return c.inner, nil
	}
	if c.inner != nil {
		c.inner.CloseIdleConnections()
	}
	c.ca = ca
	c.inner = &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:        c.options.TLS.config(ca.pool),
			MaxConnsPerHost:        1,
			IdleConnTimeout:        idle,
			MaxResponseHeaderBytes: maxHeaderBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c.inner, nil
}

// Answer is what came, without its body.
type Answer struct {
	Code   int
	Status string // for instance "404 Not Found"
	Header http.Header
}

// OK returns a failure unless the answer is 200.
func (a Answer) OK() error {
	if a.Code == http.StatusOK {
		return nil
	}
	if to := a.Header.Get("Location"); to != "" {
		return failure.Newf(failure.BadStatus, "the target answered %s to %.200q: redirects are not followed, put the final address into url", a.Status, to)
	}
	return failure.Newf(failure.BadStatus, "the target answered %s", a.Status)
}

// Do sends request with the bearer token and fills body with the answer's,
// in place of what it held: the whole of it if the answer is 200, else its
// beginning. Every error is a *failure.Error. The time that it may take is
// the request's context's; see Within.
func (c *Client) Do(request *http.Request, body *bytes.Buffer) (Answer, error) {
	body.Reset()
	client, err := c.client()
	if err == nil {
		err = c.authorize(request)
	}
	if err != nil {
		return Answer{}, &failure.Error{Reason: failure.Credentials, Err: err}
	}
	request.Header.Set("User-Agent", c.options.UserAgent)
	response, err := client.Do(request)
	if err != nil {
		return Answer{}, &failure.Error{Reason: failure.Unreachable, Err: err}
	}
	defer func() { _ = response.Body.Close() }()
	answer := Answer{Code: response.StatusCode, Status: response.Status, Header: response.Header}
	if answer.Code != http.StatusOK {
		_, _ = body.ReadFrom(io.LimitReader(response.Body, maxRefusal)) // as much as there is
		return answer, nil
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" {
		return answer, failure.Newf(failure.BadType, "the Content-Encoding is %.50q, want none or gzip", encoding)
	}
	return answer, c.read(response.Body, body)
}

func (c *Client) authorize(request *http.Request) error {
	path := c.options.BearerTokenFile
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("bearerTokenFile: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return fmt.Errorf("bearerTokenFile: %s is empty", path)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func (c *Client) read(from io.Reader, body *bytes.Buffer) error {
	limit := c.options.MaxBytes
	n, err := body.ReadFrom(io.LimitReader(from, limit+1))
	switch {
	case n > limit:
		return failure.Newf(failure.TooLarge, "the answer is larger than limits.bodyBytes, %d", limit)
	case err != nil:
		return failure.Newf(failure.Unreachable, "the answer broke off after %d bytes: %w", n, err)
	}
	return nil
}

// Within runs do, which must end with its context, for at most timeout, and
// says so if that or ctx's end is why do failed.
func Within(ctx context.Context, timeout time.Duration, do func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := do(limited)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &failure.Error{Reason: failure.Cancelled, Err: ctx.Err()}
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return failure.Newf(failure.Timeout, "no whole answer within timeout %v: %w", timeout, err)
	}
	return err
}
