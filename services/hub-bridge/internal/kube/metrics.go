package kube

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts what goes to and comes from the hub.
type Metrics struct {
	seen   *prometheus.CounterVec
	writes *prometheus.CounterVec
	took   *prometheus.HistogramVec
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		seen: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_hub_bridge_informer_events_total", Help: "Changes seen on the hub, by kind.",
		}, []string{"kind"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_hub_bridge_writes_total", Help: "Writes to the hub, by kind, verb and result (ok, or the API server's reason).",
		}, []string{"kind", "verb", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokewire_hub_bridge_write_seconds", Help: "How long a write to the hub takes, by kind.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}, []string{"kind"}),
	}
	r.MustRegister(m.seen, m.writes, m.took)
	return m
}

func (m *Metrics) wrote(kind, verb string, start time.Time, err error) {
	m.took.WithLabelValues(kind).Observe(time.Since(start).Seconds())
	m.writes.WithLabelValues(kind, verb, resultOf(err)).Inc()
}
