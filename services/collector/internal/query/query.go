// Package query takes snapshots out of a Prometheus or a Thanos: the current
// results of the source's queries.
package query

import (
	"context"
	"fmt"
	"math"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/promquery"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// nameLabel is the label that holds a series' name.
const nameLabel = "__name__"

// Source asks for the queries of one source. It is for one goroutine.
type Source struct {
	source config.Source
	rules  sample.Rules
	client *promquery.Client
}

// New returns a Source for a valid source of this kind. The error names the
// field.
func New(source config.Source) (*Source, error) {
	rules, err := source.Rules()
	if err != nil {
		return nil, err
	}
	client, err := promquery.New(promquery.Options{
		URL: source.Prometheus.URL, Fetch: source.Fetch(), MaxSeries: source.Limits.Samples, Partial: source.Prometheus.Partial,
	})
	if err != nil {
		return nil, err
	}
	return &Source{source: source, rules: rules, client: client}, nil
}

// Close closes idle connections.
func (s *Source) Close() { s.client.Close() }

// Scrape asks for every query. If one of them fails there is no snapshot,
// for it would say that the series of that query are gone. Every error is a
// *failure.Error.
func (s *Source) Scrape(ctx context.Context) (sample.Snapshot, error) {
	selection := s.rules.Start()
	err := fetch.Within(ctx, s.source.Timeout.Duration, func(ctx context.Context) error {
		for i := range s.source.Prometheus.Queries {
			if err := s.ask(ctx, &s.source.Prometheus.Queries[i], selection); err != nil {
				return fmt.Errorf("prometheus.queries[%d]: %w", i, err)
			}
		}
		return nil
	})
	if err != nil {
		return sample.Snapshot{}, err
	}
	snapshot, err := selection.Snapshot()
	if err != nil {
		return snapshot, &failure.Error{Reason: failure.TooManySamples, Err: err}
	}
	return snapshot, nil
}

// ask adds the result of q to the selection.
func (s *Source) ask(ctx context.Context, q *config.Query, selection *sample.Selection) error {
	result, err := s.evaluate(ctx, q)
	if err != nil {
		return err
	}
	for _, warning := range result.Warnings {
		selection.Note(sample.Incomplete, fmt.Sprintf("the server warns of query %s: %s", label(q), warning))
	}
	if result.Histograms > 0 {
		selection.Note(sample.Incomplete, fmt.Sprintf("%d series of query %s are native histograms: make numbers of them, for instance by histogram_quantile", result.Histograms, label(q)))
	}
	if len(result.Series)+result.Histograms == 0 {
		selection.Note(sample.NoData, fmt.Sprintf("query %s has no series", label(q)))
	}
	for _, series := range result.Series {
		add(q, series, selection)
	}
	return nil
}

// label is what messages call q.
func label(q *config.Query) string {
	if q.Name != "" {
		return q.Name
	}
	return fmt.Sprintf("%.80q", q.Query)
}

// evaluate asks for q, where it is a range query up to the server's own
// time: the clock here may be wrong.
func (s *Source) evaluate(ctx context.Context, q *config.Query) (promquery.Result, error) {
	if q.Range == (config.Duration{}) {
		return s.client.Instant(ctx, q.Query)
	}
	now, err := s.client.Now(ctx)
	if err != nil {
		return promquery.Result{}, err
	}
	return s.client.Range(ctx, q.Query, promquery.Range{Start: now.Add(-q.Range.Duration), End: now, Step: q.Step.Duration})
}

func add(q *config.Query, series promquery.Series, selection *sample.Selection) {
	name := series.Labels[nameLabel]
	delete(series.Labels, nameLabel)
	if q.Name != "" {
		name = q.Name
	}
	if name == "" {
		selection.Note(sample.BadName, fmt.Sprintf("the series of query %s have no name: give the query one", label(q)))
		return
	}
	if selection.Wants([]byte(name)) {
		selection.Add(sample.LabelsOf(series.Labels), aggregate(series.Points, q.Aggregate), q.Unit)
	}
}

// aggregate makes one value of points, over those that are numbers: a gap
// that an expression fills with NaN (0/0) is none. Without any it is NaN.
// For an instant query there is one point, and the last is taken.
func aggregate(points []promquery.Point, by config.Aggregate) float64 {
	var last, sum, n float64
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		if math.IsNaN(p.Value) {
			continue
		}
		last, n = p.Value, n+1
		sum += p.Value
		least, greatest = min(least, p.Value), max(greatest, p.Value)
	}
	if n == 0 {
		return math.NaN()
	}
	switch by {
	case config.Avg:
		return sum / n
	case config.Min:
		return least
	case config.Max:
		return greatest
	}
	return last
}
