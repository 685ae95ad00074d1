package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/sample"
)

// Metrics are what all sources of a collector count.
type Metrics struct {
	scrapes  *prometheus.CounterVec
	duration *prometheus.HistogramVec
	samples  *prometheus.CounterVec
	kept     *prometheus.GaugeVec
	unstored *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		scrapes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_collector_scrapes_total",
			Help: "Scrapes by source and result (ok, or why there was no snapshot).",
		}, []string{"source", "result"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "spokewire_collector_scrape_duration_seconds",
			Help:    "How long a scrape took, with parsing and selecting.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"source"}),
		samples: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_collector_samples_total",
			Help: "Series seen, by source and what became of them (Kept, or why they were left out).",
		}, []string{"source", "outcome"}),
		kept: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokewire_collector_snapshot_samples",
			Help: "Samples of the last snapshot of a source.",
		}, []string{"source"}),
		unstored: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_collector_snapshots_lost_total",
			Help: "Snapshots that the outbox could not store.",
		}, []string{"source"}),
	}
	r.MustRegister(m.scrapes, m.duration, m.samples, m.kept, m.unstored)
	return m
}

func (m *Metrics) scraped(source, result string, took time.Duration, s sample.Snapshot) {
	m.scrapes.WithLabelValues(source, result).Inc()
	m.duration.WithLabelValues(source).Observe(took.Seconds())
	for _, left := range s.Left {
		m.samples.WithLabelValues(source, string(left.Reason)).Add(float64(left.Count))
	}
	if result == "ok" {
		m.samples.WithLabelValues(source, "Kept").Add(float64(len(s.Samples)))
		m.kept.WithLabelValues(source).Set(float64(len(s.Samples)))
	}
}

func (m *Metrics) lost(source string) { m.unstored.WithLabelValues(source).Inc() }
