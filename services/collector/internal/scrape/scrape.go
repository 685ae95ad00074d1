// Package scrape fetches the exposition of one endpoint and selects its
// samples. Whatever the endpoint does, a scrape ends at its timeout and
// holds no more than the source's limits.
package scrape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/exposition"
)

// Reason is a class of failed scrapes.
type Reason string

// Reasons.
const (
	Unreachable    Reason = "Unreachable"    // no HTTP answer
	Timeout        Reason = "Timeout"        // no whole answer in time
	Credentials    Reason = "Credentials"    // the bearer token cannot be read
	BadStatus      Reason = "BadStatus"      // not 200
	BadType        Reason = "BadType"        // an unknown Content-Type or encoding
	TooLarge       Reason = "TooLarge"       // more than limits.bodyBytes
	BadExposition  Reason = "BadExposition"  // a syntax error
	TooManySamples Reason = "TooManySamples" // more than limits.samples
	Cancelled      Reason = "Cancelled"      // the collector stops
)

// Error is why a scrape failed.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// keptBuffer is how large a buffer is kept from one scrape to the next.
const keptBuffer = 1 << 20

// Target scrapes one source. It is for one goroutine.
type Target struct {
	source config.Source
	rules  sample.Rules
	client *http.Client
	body   bytes.Buffer
}

// New returns a Target for a valid source. The error names the field.
func New(source config.Source) (*Target, error) {
	rules, err := source.Rules()
	if err != nil {
		return nil, err
	}
	client, err := newClient(source)
	if err != nil {
		return nil, err
	}
	return &Target{source: source, rules: rules, client: client}, nil
}

// Close closes idle connections.
func (t *Target) Close() { t.client.CloseIdleConnections() }

// Scrape fetches and selects once. Every error is an *Error. Where the
// exposition was read, the snapshot tells what was left out even then.
func (t *Target) Scrape(ctx context.Context) (sample.Snapshot, error) {
	timeout := t.source.Timeout.Duration
	scrape, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	format, err := t.fetch(scrape)
	switch {
	case err == nil:
		return t.selectFrom(format)
	case ctx.Err() != nil:
		return sample.Snapshot{}, &Error{Reason: Cancelled, Err: ctx.Err()}
	case errors.Is(scrape.Err(), context.DeadlineExceeded):
		return sample.Snapshot{}, &Error{Reason: Timeout, Err: fmt.Errorf("no whole answer within timeout %v (%d bytes came)", timeout, t.body.Len())}
	}
	return sample.Snapshot{}, err
}

// fetch fills t.body.
func (t *Target) fetch(ctx context.Context) (exposition.Format, error) {
	t.body.Reset()
	request, err := t.request(ctx)
	if err != nil {
		return "", err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return "", &Error{Reason: Unreachable, Err: err}
	}
	defer func() { _ = response.Body.Close() }()
	if err := checkStatus(response); err != nil {
		return "", err
	}
	format, err := t.format(response)
	if err != nil {
		return "", &Error{Reason: BadType, Err: err}
	}
	return format, t.read(response.Body)
}

func (t *Target) request(ctx context.Context) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.source.URL, http.NoBody)
	if err != nil {
		return nil, &Error{Reason: Unreachable, Err: err}
	}
	request.Header.Set("Accept", exposition.Accept)
	request.Header.Set("User-Agent", "spokewire-collector")
	request.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", fmt.Sprint(t.source.Timeout.Seconds()))
	if path := t.source.BearerTokenFile; path != "" {
		token, err := os.ReadFile(path)
		if err != nil {
			return nil, &Error{Reason: Credentials, Err: fmt.Errorf("bearerTokenFile: %w", err)}
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return request, nil
}

func checkStatus(response *http.Response) error {
	if response.StatusCode == http.StatusOK {
		return nil
	}
	err := fmt.Errorf("the target answered %s", response.Status)
	if to := response.Header.Get("Location"); to != "" {
		err = fmt.Errorf("%w to %.200q: redirects are not followed, put the final address into url", err, to)
	}
	return &Error{Reason: BadStatus, Err: err}
}

func (t *Target) format(response *http.Response) (exposition.Format, error) {
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" {
		return "", fmt.Errorf("the Content-Encoding is %.50q, want none or gzip", encoding)
	}
	if t.source.Format != config.FormatAuto {
		return exposition.Format(t.source.Format), nil
	}
	return exposition.FormatOf(response.Header.Get("Content-Type"))
}

func (t *Target) read(body io.Reader) error {
	limit := t.source.Limits.BodyBytes
	n, err := t.body.ReadFrom(io.LimitReader(body, limit+1))
	switch {
	case n > limit:
		return &Error{Reason: TooLarge, Err: fmt.Errorf("the answer is larger than limits.bodyBytes, %d", limit)}
	case err != nil:
		return &Error{Reason: Unreachable, Err: fmt.Errorf("the answer broke off after %d bytes: %w", n, err)}
	}
	return nil
}

func (t *Target) selectFrom(format exposition.Format) (sample.Snapshot, error) {
	selection := t.rules.Start()
	err := exposition.Read(t.body.Bytes(), format, selection)
	if t.body.Cap() > keptBuffer {
		t.body = bytes.Buffer{}
	}
	if err != nil {
		return sample.Snapshot{}, &Error{Reason: BadExposition, Err: err}
	}
	snapshot, err := selection.Snapshot()
	if err != nil {
		return snapshot, &Error{Reason: TooManySamples, Err: err}
	}
	return snapshot, nil
}

// idle is how long an unused connection is kept: longer than any usual
// interval.
const idle = 2 * time.Minute
