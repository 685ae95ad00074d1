package forward

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what a Forwarder counts.
type Metrics struct {
	forwarded *prometheus.CounterVec
	failures  *prometheus.CounterVec
	lag       *prometheus.HistogramVec
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		forwarded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_collector_forwarded_total",
			Help: "Snapshots that the hub acknowledged, by source and lane (metric: current, backfill: superseded).",
		}, []string{"source", "lane"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_collector_forward_failures_total",
			Help: "Attempts to forward a snapshot that failed, by source, lane and reason.",
		}, []string{"source", "lane", "reason"}),
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "spokewire_collector_forward_lag_seconds",
			Help:    "Time from the start of the scrape to the hub's acknowledgement, by lane.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600, 3600},
		}, []string{"lane"}),
	}
	r.MustRegister(m.forwarded, m.failures, m.lag)
	return m
}

func (m *Metrics) sent(l *lane, lag time.Duration) {
	m.forwarded.WithLabelValues(l.source.Name, l.name).Inc()
	m.lag.WithLabelValues(l.name).Observe(lag.Seconds())
}

func (m *Metrics) failed(l *lane, err error) {
	m.failures.WithLabelValues(l.source.Name, l.name, reasonOf(err)).Inc()
}
