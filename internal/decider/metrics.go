package decider

import (
	"cmp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Registry makes and registers the metrics of one service, and keeps the
// first error.
type Registry struct {
	prefix string
	to     prometheus.Registerer
	err    error
	parent *Registry // keeps the error instead
}

// NewRegistry returns a Registry of metrics called spokewire_SERVICE_….
func NewRegistry(service string, to prometheus.Registerer) *Registry {
	return &Registry{prefix: "spokewire_" + strings.ReplaceAll(service, "-", "_") + "_", to: to}
}

// Called returns a Registry of metrics that begin with prefix instead.
func (r *Registry) Called(prefix string) *Registry {
	return &Registry{prefix: prefix, to: r.to, parent: r}
}

// Register registers a collector of the service's own.
func (r *Registry) Register(c prometheus.Collector) { register(r, c) }

// Err returns what went wrong, if anything did.
func (r *Registry) Err() error { return r.err }

// Vector returns a counter with labels.
func (r *Registry) Vector(name, help string, labels ...string) *prometheus.CounterVec {
	return register(r, prometheus.NewCounterVec(prometheus.CounterOpts{Name: r.prefix + name, Help: help}, labels))
}

// Counter returns a counter.
func (r *Registry) Counter(name, help string) prometheus.Counter {
	return register(r, prometheus.NewCounter(prometheus.CounterOpts{Name: r.prefix + name, Help: help}))
}

// Gauge returns a gauge.
func (r *Registry) Gauge(name, help string) prometheus.Gauge {
	return register(r, prometheus.NewGauge(prometheus.GaugeOpts{Name: r.prefix + name, Help: help}))
}

// Gauges returns a gauge with labels.
func (r *Registry) Gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: r.prefix + name, Help: help}, labels))
}

// Histogram returns a histogram of 18 buckets, each twice the one before.
func (r *Registry) Histogram(name, help string, first float64) prometheus.Histogram {
	return register(r, prometheus.NewHistogram(prometheus.HistogramOpts{Name: r.prefix + name, Help: help, Buckets: prometheus.ExponentialBuckets(first, 2, 18)}))
}

func register[C prometheus.Collector](r *Registry, c C) C {
	if err := r.to.Register(c); err != nil {
		for r.parent != nil {
			r = r.parent
		}
		r.err = cmp.Or(r.err, err)
	}
	return c
}

// Counts are the metrics that every decider has.
type Counts struct {
	Folded, Dead                            *prometheus.CounterVec
	Conflicts, Failures, Jumps, DeadDropped prometheus.Counter
	Lag                                     prometheus.Histogram
}

func newCounts(r *Registry) *Counts {
	return &Counts{
		Folded:      r.Vector("events_folded_total", "Events taken into the snapshot.", "stream"),
		Dead:        r.Vector("dead_letters_total", "Messages refused, by reason.", "reason"),
		Conflicts:   r.Counter("publish_conflicts_total", "Events that another replica published first."),
		Failures:    r.Counter("publish_failures_total", "Events that could not be published at the first attempt."),
		Jumps:       r.Counter("clock_jumps_total", "Leaps of server time by more than a minute, either way."),
		DeadDropped: r.Counter("dead_letters_dropped_total", "Messages refused that could not be kept."),
		Lag:         r.Histogram("lag_seconds", "From the receipt of the event that set a decision off to the decision's receipt.", 5e-4),
	}
}
