// Package conformance checks whether a scoring service speaks the API of
// OCM's dynamic scoring: GET /healthz, GET on its configuration, and POST of
// {"data":[{"metric":{},"values":[[time,"value"]]}]}, which is answered by
// {"results":[{"metric":{},"score":1.0}]}.
//
// It reads answers by itself, and more strictly than those who ask for
// scores: these take what they can use.
package conformance

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

// Result is what one check found.
type Result struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	// Detail says what was found, or what is wrong.
	Detail string `json:"detail"`
}

// Request is one call of the service.
type Request struct {
	Method, URL string
	// Token is sent as the bearer token unless it is empty.
	Token string
	Body  []byte
}

// Response is what came of it.
type Response struct {
	Status int
	Body   []byte
	Took   time.Duration
}

// Caller makes calls. An error means that there was no answer.
type Caller interface {
	Call(ctx context.Context, r Request) (Response, error)
}

// Options says what to check.
type Options struct {
	// URL is that of the service, or of its configuration where that is not
	// at /config.
	URL string
	// Token is what the service wants, empty for nothing.
	Token string
	// Data, if not empty, is a request that has to be scored, instead of one
	// of made-up series.
	Data []byte
	// Now is the time of the newest sample.
	Now time.Time
}

// Verify runs all checks in their order. It returns an error only where the
// options make no sense, or ctx ended.
func Verify(ctx context.Context, c Caller, o Options) ([]Result, error) {
	at, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	v := &verification{caller: c, options: o, at: at}
	v.look(ctx)
	if v.config != nil {
		v.score(ctx)
	}
	v.check("healthy afterwards", func() (string, error) { return v.healthy(ctx) })
	return v.results, ctx.Err()
}

func parseURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return nil, fmt.Errorf("%q is no URL of a service, want for instance http://127.0.0.1:8000", text)
	case at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return nil, fmt.Errorf("the URL of the service has more than scheme, host and path")
	}
	if at.Path == "" || at.Path == "/" {
		at.Path = "/config"
	}
	return at, nil
}

// verification is one Verify under way.
type verification struct {
	caller  Caller
	options Options
	at      *url.URL // of the configuration
	config  *config
	results []Result
}

func (v *verification) check(name string, do func() (string, error)) {
	detail, err := do()
	if err != nil {
		detail = err.Error()
	}
	v.results = append(v.results, Result{Check: name, OK: err == nil, Detail: detail})
}

// look reads what the service says of itself. Nobody sends a token for that.
func (v *verification) look(ctx context.Context) {
	v.check("healthz", func() (string, error) { return v.healthy(ctx) })
	var body []byte
	v.check("config", func() (string, error) {
		answer, err := v.get(ctx, v.at.Path)
		body = answer.Body
		return v.at.Path + " answers 200", err
	})
	if len(body) == 0 {
		return
	}
	v.check("config fields", func() (string, error) {
		c, err := readConfig(body)
		if err != nil {
			return "", err
		}
		v.config = c
		return c.summary(v.at.Host), nil
	})
}

func (v *verification) healthy(ctx context.Context) (string, error) {
	_, err := v.get(ctx, "/healthz")
	return "/healthz answers 200", err
}

// get returns no body unless the answer is 200.
func (v *verification) get(ctx context.Context, path string) (Response, error) {
	answer, err := v.caller.Call(ctx, Request{Method: "GET", URL: v.url(path)})
	if err != nil {
		return Response{}, fmt.Errorf("%s: %w", path, err)
	}
	if answer.Status != 200 {
		return Response{}, fmt.Errorf("%s answers %d%s, want 200", path, answer.Status, shown(answer.Body))
	}
	if len(answer.Body) == 0 && path != "/healthz" {
		return Response{}, fmt.Errorf("%s answers nothing", path)
	}
	return answer, nil
}

// url is on the host that was given, whichever the configuration names: the
// token is not for others.
func (v *verification) url(path string) string {
	u := url.URL{Scheme: v.at.Scheme, Host: v.at.Host, Path: path}
	return u.String()
}

// shown is the beginning of a body.
func shown(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.80q)", body)
}
