// Package promquery asks Prometheus, or what speaks its HTTP API (Thanos,
// Mimir, VictoriaMetrics), for the result of an expression.
package promquery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	// pagePoints is how many steps of a range are asked for at once; a
	// server refuses more than 11,000 a series.
	pagePoints = 10_000
	// MaxPoints bounds the steps of a range as a whole.
	MaxPoints = 100_000
	// maxURL is the longest query string that is sent by GET. Proxies that
	// let a reader GET often do not let it POST.
	maxURL = 2000
	// keptBuffer is how large a buffer is kept from one answer to the next.
	keptBuffer = 1 << 20
)

// Options of a Client.
type Options struct {
	// URL is where the API begins, for instance http://prometheus:9090; a
	// path such as /prometheus may follow, and so may a query string, which
	// goes with every request. A trailing /api/v1/query or
	// /api/v1/query_range is not needed.
	URL   string
	Fetch fetch.Options
	// MaxSeries bounds the series of a result.
	MaxSeries int
	// Partial takes results of a Thanos or a Mimir some of whose stores do
	// not answer. Without it they are asked to refuse instead.
	Partial bool
}

// Client asks one server, one request at a time.
type Client struct {
	options Options
	base    *url.URL
	client  *fetch.Client

	mu   sync.Mutex
	body bytes.Buffer
}

// New returns a Client. The error is a *schemas.FieldError.
func New(o Options) (*Client, error) {
	base, err := ParseURL(o.URL)
	if err != nil {
		return nil, err
	}
	client, err := fetch.New(o.Fetch)
	if err != nil {
		return nil, err
	}
	return &Client{options: o, base: base, client: client}, nil
}

// ParseURL reads Options.URL. The error is a *schemas.FieldError of "url".
func ParseURL(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil {
		var wrapped *url.Error // it quotes the URL, which may hold a password
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, &schemas.FieldError{Field: "url", Reason: "is not a URL: " + err.Error()}
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, &schemas.FieldError{Field: "url", Reason: fmt.Sprintf("is %q, want http://HOST[:PORT] or https://…", base.Redacted())}
	}
	path := strings.TrimSuffix(base.Path, "/")
	for _, end := range []string{instantPath, rangePath} {
		path = strings.TrimSuffix(path, end)
	}
	base.Path, base.RawPath = path, ""
	return base, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.client.Close() }

// Result is what an expression yields.
type Result struct {
	// Series are in the server's order. A scalar is one without labels.
	Series []Series
	// Warnings are what the server says of the result's quality.
	Warnings []string
	// Histograms counts native histograms, which are not in Series.
	Histograms int
}

// Series is one series of a result; its name, if it has one, is the label
// __name__.
type Series struct {
	Labels map[string]string
	Points []Point // in order of time; one for an instant vector
}

// Point is a value at a time. The value may be NaN or infinite.
type Point struct {
	Time  time.Time
	Value float64
}

// Instant evaluates query at the server's now. Every error is a
// *failure.Error.
func (c *Client) Instant(ctx context.Context, query string) (Result, error) {
	return c.ask(ctx, instantPath, url.Values{"query": {query}})
}

// Now returns the server's time.
func (c *Client) Now(ctx context.Context) (time.Time, error) {
	r, err := c.Instant(ctx, "time()")
	if err != nil {
		return time.Time{}, err
	}
	if len(r.Series) != 1 || len(r.Series[0].Points) != 1 {
		return time.Time{}, failure.Newf(failure.BadAnswer, "time() has %d results, want one", len(r.Series))
	}
	return r.Series[0].Points[0].Time, nil
}

// Range is when to evaluate an expression: at End, and every Step before,
// as long as that is not before Start.
type Range struct {
	Start, End time.Time
	Step       time.Duration // at least 1 ms
}

// check says what is wrong with the range.
func (r Range) check() error {
	switch {
	case r.Step < time.Millisecond || r.End.Before(r.Start):
		return failure.Newf(failure.Refused, "a range from %s to %s in steps of %s is none", r.Start, r.End, r.Step)
	case r.End.Sub(r.Start)/r.Step >= MaxPoints:
		return failure.Newf(failure.Refused, "a range of %s in steps of %s has more than %d points: raise step", r.End.Sub(r.Start), r.Step, MaxPoints)
	}
	return nil
}

// pages cuts the range, from its start on.
func (r Range) pages() []Range {
	r.Start = r.End.Add(-r.End.Sub(r.Start).Truncate(r.Step))
	var all []Range
	for start := r.Start; !start.After(r.End); start = start.Add(pagePoints * r.Step) {
		last := start.Add((pagePoints - 1) * r.Step)
		if last.After(r.End) {
			last = r.End
		}
		all = append(all, Range{Start: start, End: last, Step: r.Step})
	}
	return all
}

// Range evaluates query at each point of r. A long range is asked for in
// pages. Every error is a *failure.Error.
func (c *Client) Range(ctx context.Context, query string, r Range) (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	var whole merger
	for _, page := range r.pages() {
		part, err := c.ask(ctx, rangePath, url.Values{
			"query": {query}, "start": {stamp(page.Start)}, "end": {stamp(page.End)},
			"step": {fmt.Sprintf("%.3f", r.Step.Seconds())},
		})
		if err != nil {
			return Result{}, err
		}
		whole.add(part)
		if err := c.tooMany(len(whole.Series)); err != nil {
			return Result{}, err
		}
	}
	return whole.Result, nil
}

func stamp(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }

// merger joins the pages of a range.
type merger struct {
	Result
	at map[string]int // of a series in Result.Series
}

func (m *merger) add(page Result) {
	if m.at == nil {
		m.at = map[string]int{}
	}
	for _, s := range page.Series {
		key := fmt.Sprint(s.Labels) // fmt sorts the keys
		if i, known := m.at[key]; known {
			m.Series[i].Points = append(m.Series[i].Points, s.Points...)
			continue
		}
		m.at[key] = len(m.Series)
		m.Series = append(m.Series, s)
	}
	m.Warnings = append(m.Warnings, page.Warnings...)
	m.Histograms += page.Histograms
}

// ask makes one request.
func (c *Client) ask(ctx context.Context, path string, values url.Values) (Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	request, err := c.request(ctx, path, values)
	if err != nil {
		return Result{}, &failure.Error{Reason: failure.Unreachable, Err: err}
	}
	answer, err := c.client.Do(request, &c.body)
	if err != nil {
		return Result{}, err
	}
	result, err := decode(answer, c.body.Bytes(), c.options.MaxSeries)
	if c.body.Cap() > keptBuffer {
		c.body = bytes.Buffer{}
	}
	return result, err
}

// request is a GET, or a POST where that would be too long.
func (c *Client) request(ctx context.Context, path string, values url.Values) (*http.Request, error) {
	for name, given := range c.base.Query() {
		values[name] = given
	}
	// One more than is taken, so that a result that was cut shows it.
	values.Set("limit", fmt.Sprint(c.options.MaxSeries+1))
	values.Set("partial_response", fmt.Sprint(c.options.Partial))
	target := *c.base
	target.Path += path
	target.RawQuery = ""
	text := values.Encode()
	method, body := http.MethodGet, ""
	if len(text) <= maxURL {
		target.RawQuery = text
	} else {
		method, body = http.MethodPost, text
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, nil
}

func (c *Client) tooMany(series int) error { return tooMany(series, c.options.MaxSeries) }

func tooMany(series, limit int) error {
	if series <= limit {
		return nil
	}
	return failure.Newf(failure.TooManySamples, "the result has more than %d series: aggregate in the query, or raise limits.samples (at most %d)", limit, schemas.MaxSamples)
}
