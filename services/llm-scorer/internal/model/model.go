// Package model asks a language model over HTTP.
package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/llm"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/config"
)

// Reasons why a model was not asked, or did not answer.
const (
	BudgetExhausted = "BudgetExhausted" // asked as often as it may be
	RateLimited     = "RateLimited"     // it says that it was asked too often
)

// maxPause bounds for how long a model may ask to be left alone.
const maxPause = 5 * time.Minute

// Client asks one model, so many questions a minute and so many at a time. It
// is safe for concurrent use.
type Client struct {
	config config.Model
	http   *http.Client
	budget *rate.Limiter
	room   chan struct{}
	now    func() time.Time

	mu     sync.Mutex
	paused time.Time // until when the model wants to be left alone
}

// New returns a Client for a valid configuration.
func New(c config.Model, perMinute int) *Client {
	return &Client{
		config: c, budget: rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute), room: make(chan struct{}, c.Concurrency), now: time.Now,
		http: &http.Client{
			Timeout: time.Duration(c.TimeoutSeconds) * time.Second,
			// A token must not go elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ask returns what the model answers to a question's body. It waits for its
// turn as long as ctx lasts.
func (c *Client) Ask(ctx context.Context, body []byte) ([]byte, *dynamic.Failure) {
	select {
	case c.room <- struct{}{}:
		defer func() { <-c.room }()
	case <-ctx.Done():
		return nil, dynamic.Failf(dynamic.Timeout, "%d questions are with the model already", c.config.Concurrency)
	}
	if until := c.pausedUntil(); c.now().Before(until) {
		return nil, dynamic.Failf(RateLimited, "the model asked to be left alone until %s", until.UTC().Format(time.RFC3339))
	}
	if !c.budget.AllowN(c.now(), 1) {
		return nil, dynamic.Failf(BudgetExhausted, "budgetPerMinute is spent, %d: raise it, ask less often, or show the model less that changes", c.budget.Burst())
	}
	request, err := c.request(ctx, body)
	if err != nil {
		return nil, dynamic.FailureOf(err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, failureOf(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, llm.MaxAnswer+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, c.badStatus(response, answer)
	case err != nil:
		return nil, failureOf(fmt.Errorf("the answer broke off after %d bytes: %w", len(answer), err))
	case len(answer) > llm.MaxAnswer:
		return nil, dynamic.Failf(dynamic.TooLarge, "the model's answer has more than %d bytes", llm.MaxAnswer)
	}
	return answer, nil
}

func (c *Client) request(ctx context.Context, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.config.URL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "spokewire-llm-scorer")
	if c.config.TokenFile == "" {
		return request, nil
	}
	token, err := os.ReadFile(c.config.TokenFile)
	if err != nil {
		return nil, dynamic.Failf(dynamic.TokenMissing, "model.tokenFile: %v", err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return request, nil
}

func (c *Client) badStatus(response *http.Response, body []byte) *dynamic.Failure {
	if response.StatusCode == http.StatusTooManyRequests {
		c.pause(response.Header.Get("Retry-After"))
		return dynamic.Failf(RateLimited, "the model answered %s: %.120q", response.Status, body)
	}
	return dynamic.Failf(dynamic.BadStatus, "the model answered %s: %.120q", response.Status, body)
}

// pause takes how long the model asks to be left alone: seconds, or a time.
func (c *Client) pause(text string) {
	until := c.now().Add(time.Second)
	if seconds, err := strconv.Atoi(text); err == nil {
		until = c.now().Add(time.Duration(min(max(seconds, 1), int(maxPause/time.Second))) * time.Second)
	} else if at, err := http.ParseTime(text); err == nil {
		until = at
	}
	if latest := c.now().Add(maxPause); until.After(latest) {
		until = latest
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = until
}

func (c *Client) pausedUntil() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

func failureOf(err error) *dynamic.Failure {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return dynamic.Failf(dynamic.Timeout, "the model gave no whole answer in time")
	}
	return dynamic.Failf(dynamic.Unreachable, "the model: %v", err)
}
