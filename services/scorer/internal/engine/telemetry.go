package engine

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider"
)

// telemetry is what /metrics tells of the engine, beside what it tells of
// every decider.
type telemetry struct {
	evaluations, published              *prometheus.CounterVec
	clusters, scorers, pending, windows prometheus.Gauge
}

func newTelemetry(r *decider.Registry) (*telemetry, error) {
	return &telemetry{
		evaluations: r.Vector("evaluations_total", "Items computed, by the reason that they got.", "scorer", "reason"),
		published:   r.Vector("scores_published_total", "Scores published, by cause.", "cause"),
		clusters:    r.Gauge("clusters", "Clusters in the snapshot."),
		scorers:     r.Gauge("scorers", "Scorers in the snapshot."),
		pending:     r.Gauge("pending", "Pairs of a cluster and a scorer that wait to be scored or published."),
		windows:     r.Gauge("window_bytes", "What the past of metrics takes that expressions look back at."),
	}, r.Err()
}

func (t *telemetry) sizes(clusters, scorers, pending int, windows int64) {
	t.clusters.Set(float64(clusters))
	t.scorers.Set(float64(scorers))
	t.pending.Set(float64(pending))
	t.windows.Set(float64(windows))
}

// forget drops the series of a scorer that changed or is gone.
func (t *telemetry) forget(scorer string) {
	t.evaluations.DeletePartialMatch(prometheus.Labels{"scorer": scorer})
}
