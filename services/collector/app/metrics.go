package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// outboxMetrics reads the outbox's state when it is asked for.
type outboxMetrics struct {
	store                                     *outbox.Store
	depth, bytes, oldest, dropped, unreadable *prometheus.Desc
}

func newOutboxMetrics(store *outbox.Store) *outboxMetrics {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("spokewire_collector_outbox_"+name, help, nil, nil)
	}
	return &outboxMetrics{
		store:      store,
		depth:      desc("depth", "Snapshots that wait in the outbox."),
		bytes:      desc("bytes", "Their size in bytes."),
		oldest:     desc("oldest_age_seconds", "How long ago the oldest of them was taken."),
		dropped:    desc("dropped_total", "Superseded snapshots dropped because the outbox was full."),
		unreadable: desc("unreadable_total", "Snapshots in the outbox file that could not be read back."),
	}
}

// Describe implements prometheus.Collector.
func (m *outboxMetrics) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect implements prometheus.Collector.
func (m *outboxMetrics) Collect(out chan<- prometheus.Metric) {
	s := m.store.Stats()
	age := 0.0
	if !s.Oldest.IsZero() {
		age = max(time.Since(s.Oldest).Seconds(), 0)
	}
	gauge := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(m.depth, float64(s.Depth))
	gauge(m.bytes, float64(s.Bytes))
	gauge(m.oldest, age)
	out <- prometheus.MustNewConstMetric(m.dropped, prometheus.CounterValue, float64(s.Dropped))
	out <- prometheus.MustNewConstMetric(m.unreadable, prometheus.CounterValue, float64(s.Unreadable))
}
