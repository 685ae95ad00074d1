package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/promquery"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bounds of the queries of a source.
const (
	maxQueries     = 100
	maxQueryLength = 64 << 10
	// DefaultStep is that of a range query.
	DefaultStep = 30 * time.Second
)

// Prometheus asks Prometheus, or what speaks its HTTP API (Thanos, Mimir,
// VictoriaMetrics), for the results of queries.
type Prometheus struct {
	// URL is where the API begins, for instance http://prometheus:9090.
	URL     string  `json:"url"`
	Queries []Query `json:"queries"`
	// Partial takes results of a Thanos some of whose stores do not answer.
	Partial bool `json:"partial,omitempty"`
}

// Query is evaluated for every snapshot: at once, or over Range.
type Query struct {
	// Name is that of the samples. Default: the name of each series of the
	// result; one without a name, as most expressions yield, is left out.
	Name  string `json:"name,omitempty"`
	Query string `json:"query"`
	// Unit of the samples, for people.
	Unit string `json:"unit,omitempty"`
	// Range, if not 0, makes a range query of it: from that long ago until
	// now, each Step. Of each series Aggregate is taken.
	Range Duration `json:"range,omitzero"`
	// Step of a range query. Default 30s.
	Step Duration `json:"step,omitzero"`
	// Aggregate is last, avg, min or max over the points of a range query.
	// Default avg.
	Aggregate Aggregate `json:"aggregate,omitempty"`
}

// Aggregate makes one value of the points of a series.
type Aggregate string

// Aggregates.
const (
	Last Aggregate = "last"
	Avg  Aggregate = "avg"
	Min  Aggregate = "min"
	Max  Aggregate = "max"
)

func (p *Prometheus) setDefaults() {
	for i := range p.Queries {
		q := &p.Queries[i]
		if q.Range == (Duration{}) {
			continue
		}
		if q.Step == (Duration{}) {
			q.Step = Of(DefaultStep)
		}
		q.Aggregate = cmp.Or(q.Aggregate, Avg)
	}
}

func (p *Prometheus) validate() error {
	if err := checkURL("url", p.URL); err != nil {
		return err
	}
	switch n := len(p.Queries); {
	case n == 0:
		return fieldErrorf("queries", "is empty: name at least one query")
	case n > maxQueries:
		return fieldErrorf("queries", "has %d items, at most %d are taken: use several sources", n, maxQueries)
	}
	for i := range p.Queries {
		if err := p.Queries[i].validate(); err != nil {
			return within(fmt.Sprintf("queries[%d].", i), err)
		}
	}
	return nil
}

func (q *Query) validate() error {
	switch {
	case strings.TrimSpace(q.Query) == "":
		return fieldErrorf("query", "is missing")
	case len(q.Query) > maxQueryLength:
		return fieldErrorf("query", "has %d bytes, at most %d are taken", len(q.Query), maxQueryLength)
	}
	if q.Name != "" {
		if wrong := schemas.CheckMetricName(q.Name); wrong != "" {
			return fieldErrorf("name", "%s", wrong)
		}
	}
	return cmp.Or(q.Range.validate("range"), q.Step.validate("step"), q.validateRange())
}

func (q *Query) validateRange() error {
	if q.Range == (Duration{}) {
		if q.Step != (Duration{}) || q.Aggregate != "" {
			return fieldErrorf("range", "is missing, for step or aggregate is given")
		}
		return nil
	}
	switch length, step := q.Range.Duration, q.Step.Duration; {
	case step < time.Millisecond:
		return fieldErrorf("step", "is %v, want at least 1ms", step)
	case length < step:
		return fieldErrorf("range", "is %v, want at least one step, %v", length, step)
	case length/step >= promquery.MaxPoints:
		return fieldErrorf("step", "is %v, which makes %d points of range %v: at most %d are taken", step, length/step, length, promquery.MaxPoints)
	case !slices.Contains([]Aggregate{Last, Avg, Min, Max}, q.Aggregate):
		return fieldErrorf("aggregate", "is %q, want last, avg, min or max", q.Aggregate)
	}
	return nil
}
