package work

import "github.com/prometheus/client_golang/prometheus"

// Metrics counts what the queues do.
type Metrics struct {
	registry prometheus.Registerer
	retries  *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{registry: r, retries: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "spokewire_hub_bridge_retries_total", Help: "Tries that failed, by queue.",
	}, []string{"queue"})}
	r.MustRegister(m.retries)
	return m
}

func (m *Metrics) watch(q *Queue) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "spokewire_hub_bridge_queue_depth", Help: "Subjects that wait for a worker, by queue.",
		ConstLabels: prometheus.Labels{"queue": q.name},
	}, func() float64 { return float64(q.Len()) }))
}
