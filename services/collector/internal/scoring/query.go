package scoring

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/promquery"
)

// maxAnswer bounds what a Prometheus answers to one query, in bytes.
const maxAnswer = 32 << 20

// query asks the cluster's Prometheus, up to its own now: the clock here may
// be wrong. Its error is a *dynamic.Failure, or that the process ends.
func (d *Desk) query(ctx context.Context, s *dynamic.QuestionSource) ([]dynamic.Series, error) {
	client, err := d.client(s)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var series []dynamic.Series
	err = fetch.Within(ctx, Timeout, func(ctx context.Context) error {
		evaluate, err := evaluator(ctx, client, s)
		if err != nil {
			return err
		}
		for _, text := range s.Queries {
			found, err := evaluate(ctx, text)
			if err != nil {
				return fmt.Errorf("query %.80q: %w", text, err)
			}
			if series, err = add(series, found, text); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, inOurWords(ctx, s.URL, err)
	case len(series) == 0:
		return nil, dynamic.Failf(dynamic.NoData, "%s: no query has a series: %.200q", s.URL, s.Queries)
	}
	return series, nil
}

// evaluator returns how each query is evaluated: at the server's now, or over
// one range for all of them, up to its now.
func evaluator(ctx context.Context, client *promquery.Client, s *dynamic.QuestionSource) (func(context.Context, string) (promquery.Result, error), error) {
	if s.Range == 0 {
		return client.Instant, nil
	}
	now, err := client.Now(ctx)
	r := promquery.Range{Start: now.Add(-time.Duration(s.Range) * time.Second), End: now, Step: time.Duration(s.Step) * time.Second}
	return func(ctx context.Context, text string) (promquery.Result, error) { return client.Range(ctx, text, r) }, err
}

func (d *Desk) client(s *dynamic.QuestionSource) (*promquery.Client, error) {
	address, err := d.address(s)
	if err != nil {
		return nil, err
	}
	token, err := d.tokenFile(s.Token)
	if err != nil {
		return nil, err
	}
	client, err := promquery.New(promquery.Options{
		URL: address, MaxSeries: dynamic.MaxSeries,
		Fetch: fetch.Options{BearerTokenFile: token, TLS: fetch.TLS{CAFile: d.config.CAFile}, MaxBytes: maxAnswer, UserAgent: userAgent},
	})
	if err != nil {
		return nil, dynamic.Failf(dynamic.BadConfig, "%v", err)
	}
	return client, nil
}

// address is where to ask: what the scorer names, if it may be called, or what
// the configuration has in place of it.
func (d *Desk) address(s *dynamic.QuestionSource) (string, error) {
	if d.config.Prometheus != "" {
		return d.config.Prometheus, nil
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "", dynamic.Failf(dynamic.BadConfig, "source.url is not a URL")
	}
	return s.URL, d.hosts.Permit(u)
}

// add appends what a query found, as a scoring API is given it.
func add(series []dynamic.Series, found promquery.Result, query string) ([]dynamic.Series, error) {
	if len(found.Series) == 0 && found.Histograms > 0 {
		return nil, dynamic.Failf(dynamic.QueryRefused, "query %.80q yields native histograms: make numbers of them, for instance by histogram_quantile", query)
	}
	for _, one := range found.Series {
		values := make([]dynamic.Value, len(one.Points))
		for i, p := range one.Points {
			values[i] = dynamic.Value{Seconds: float64(p.Time.UnixMilli()) / 1000, Text: strconv.FormatFloat(p.Value, 'f', -1, 64)}
		}
		if one.Labels == nil {
			one.Labels = map[string]string{}
		}
		series = append(series, dynamic.Series{Metric: one.Labels, Values: values})
	}
	if failed := dynamic.CheckSeries(series); failed != nil {
		return nil, failed
	}
	return series, nil
}

// reasons are what failures of a query are called towards the hub.
var reasons = map[failure.Reason]string{
	failure.Timeout: dynamic.Timeout, failure.Credentials: dynamic.TokenMissing, failure.BadStatus: dynamic.BadStatus,
	failure.BadType: dynamic.BadAnswer, failure.BadAnswer: dynamic.BadAnswer, failure.Refused: dynamic.QueryRefused,
}

func inOurWords(ctx context.Context, address string, err error) error {
	if reason := failure.Of(err); reason != "" {
		if reason == failure.Cancelled && ctx.Err() != nil {
			return ctx.Err()
		}
		switch reason { // those of a source of the collector's own would name its limits
		case failure.TooManySamples:
			return dynamic.Failf(dynamic.TooManySeries, "%s: a query has more than %d series: aggregate in it", address, dynamic.MaxSeries)
		case failure.TooLarge:
			return dynamic.Failf(dynamic.TooLarge, "%s: the answer to a query has more than %d bytes: aggregate in it, or raise source.params.step", address, maxAnswer)
		}
		if ours, known := reasons[reason]; known {
			return dynamic.Failf(ours, "%s: %v", address, err)
		}
	}
	return told(address, err)
}
