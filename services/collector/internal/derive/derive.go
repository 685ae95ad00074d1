// Package derive makes rates of counters and quantiles of histograms, over a
// window of the snapshots of one source.
//
// It is pure: the caller says when a snapshot was taken.
package derive

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	// MaxSeries bounds the counters and buckets that are watched.
	MaxSeries = 50_000
	// MaxPoints bounds the snapshots of a window.
	MaxPoints = 120

	bucketSuffix  = "_bucket"
	totalSuffix   = "_total"
	rateSuffix    = "_per_second"
	boundLabel    = "le"
	quantileLabel = "quantile"
)

// Rules say what to derive.
type Rules struct {
	// Rates are the names of counters whose rate a second is wanted: of
	// x_total, or of x, the sample is x_per_second.
	Rates []*regexp.Regexp
	// Histograms are the names, without _bucket, of those whose Quantiles are
	// wanted: of h, the samples are h{quantile="Q"}, as a summary has them.
	Histograms []*regexp.Regexp
	Quantiles  []float64
	// Window is how far back a rate and a quantile look.
	Window time.Duration
}

// Tracker remembers a source's counters for as long as the window. It is for
// one goroutine.
type Tracker struct {
	rules   Rules
	watched map[string]watch // verdicts on names, at most as many as series
	series  map[string]*counter
}

// watch is what a series of one name is good for.
type watch struct{ rate, bucket bool }

// New returns a Tracker that remembers nothing yet.
func New(r Rules) *Tracker {
	return &Tracker{rules: r, watched: map[string]watch{}, series: map[string]*counter{}}
}

// Round is one snapshot that is being read. Its Wants and Add are those of a
// sample.Selection, and hand on to it.
type Round struct {
	tracker *Tracker
	into    *sample.Selection
	name    string
	watch   watch
	wanted  bool // by into
	seen    map[string]reading
}

// reading is the value of one series in a round.
type reading struct {
	name   string
	labels map[string]string
	watch  watch
	value  float64
}

// Start begins a round.
func (t *Tracker) Start(into *sample.Selection) *Round {
	return &Round{tracker: t, into: into, seen: map[string]reading{}}
}

// Wants reports whether the next series, of this name, is to be given to Add.
func (r *Round) Wants(name []byte) bool {
	r.wanted = r.into.Wants(name)
	if len(r.tracker.rules.Rates)+len(r.tracker.rules.Histograms) == 0 {
		return r.wanted
	}
	r.watch = r.tracker.judge(name)
	if r.watch != (watch{}) {
		r.name = string(name)
		return true
	}
	return r.wanted
}

// Add takes in the series that Wants has just said yes to.
func (r *Round) Add(labels sample.Labels, value float64, unit string) {
	if r.wanted {
		r.into.Add(labels, value, unit)
	}
	if r.watch == (watch{}) || value != value || len(r.seen) > MaxSeries || labels.Len > schemas.MaxLabels {
		return
	}
	s := schemas.Sample{Name: r.name, Labels: maps.Collect(labels.All)}
	r.seen[s.Series()] = reading{name: r.name, labels: s.Labels, watch: r.watch, value: value}
}

func (t *Tracker) judge(series []byte) watch {
	w, known := t.watched[string(series)]
	if known {
		return w
	}
	name := string(series)
	matches := func(all []*regexp.Regexp, name string) bool {
		return slices.ContainsFunc(all, func(e *regexp.Regexp) bool { return e.MatchString(name) })
	}
	w.rate = matches(t.rules.Rates, name)
	base, bucket := strings.CutSuffix(name, bucketSuffix)
	w.bucket = bucket && matches(t.rules.Histograms, base)
	if len(t.watched) < MaxSeries {
		t.watched[name] = w
	}
	return w
}

// End ends a round that was read as a whole, at that time: what it saw is
// remembered, and what is derived is added to the selection. A round that is
// not ended leaves no trace. The error is a *failure.Error.
func (r *Round) End(now time.Time) error {
	if len(r.seen) > MaxSeries {
		return failure.Newf(failure.TooManySamples, "derive watches more than %d counters and buckets: name fewer", MaxSeries)
	}
	r.remember(now)
	histograms := map[string]*histogram{}
	for _, key := range slices.Sorted(maps.Keys(r.seen)) {
		c, of := r.tracker.series[key], r.seen[key]
		if of.watch.rate {
			if rate, ok := c.rate(); ok {
				r.into.Put(strings.TrimSuffix(of.name, totalSuffix)+rateSuffix, sample.LabelsOf(of.labels), rate, "")
			}
		}
		if of.watch.bucket {
			gather(histograms, of, c.increase())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(histograms)) {
		histograms[key].derive(r.tracker.rules.Quantiles, r.into)
	}
	return nil
}

// remember makes the round the newest of the window. A series that is not
// there any more is forgotten.
func (r *Round) remember(now time.Time) {
	maps.DeleteFunc(r.tracker.series, func(key string, _ *counter) bool {
		_, there := r.seen[key]
		return !there
	})
	for key, of := range r.seen {
		c := r.tracker.series[key]
		if c == nil {
			c = &counter{}
			r.tracker.series[key] = c
		}
		c.add(now, of.value, r.tracker.rules.Window)
	}
}

// histogram is one whose buckets are gathered.
type histogram struct {
	name    string
	labels  map[string]string
	buckets []bucket
}

// gather adds a bucket to its histogram. A bucket without a bound is none.
func gather(all map[string]*histogram, of reading, increase float64) {
	bound, err := strconv.ParseFloat(of.labels[boundLabel], 64)
	if err != nil || bound != bound {
		return
	}
	labels := maps.Clone(of.labels)
	delete(labels, boundLabel)
	s := schemas.Sample{Name: strings.TrimSuffix(of.name, bucketSuffix), Labels: labels}
	h := all[s.Series()]
	if h == nil {
		h = &histogram{name: s.Name, labels: labels}
		all[s.Series()] = h
	}
	h.buckets = append(h.buckets, bucket{bound: bound, count: increase})
}

func (h *histogram) derive(quantiles []float64, into *sample.Selection) {
	for _, q := range quantiles {
		v, ok := quantile(q, h.buckets)
		if !ok {
			continue
		}
		labels := maps.Clone(h.labels)
		labels[quantileLabel] = strconv.FormatFloat(q, 'g', -1, 64)
		into.Put(h.name, sample.LabelsOf(labels), v, "")
	}
}
