package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 4 << 20

// HTTP is a Caller that makes each call on a connection of its own, follows
// no redirect, and waits for timeout.
type HTTP struct {
	client  *http.Client
	timeout time.Duration
}

// NewHTTP returns an HTTP.
func NewHTTP(timeout time.Duration) *HTTP {
	return &HTTP{timeout: timeout, client: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Call implements Caller.
func (h *HTTP) Call(ctx context.Context, r Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, err
	}
	request.Header.Set("Accept", "application/json")
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	began := time.Now()
	answer, err := h.client.Do(request)
	if err != nil {
		return Response{}, h.reason(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Response{}, h.reason(err)
	case len(body) > maxAnswer:
		return Response{}, fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	return Response{Status: answer.StatusCode, Body: body, Took: time.Since(began)}, nil
}

// reason says why there is no answer, without the URL, which is known.
func (h *HTTP) reason(err error) error {
	var wrapped *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no whole answer within %s", h.timeout)
	case errors.As(err, &wrapped):
		return fmt.Errorf("no answer: %w", wrapped.Err)
	}
	return fmt.Errorf("no whole answer: %w", err)
}
