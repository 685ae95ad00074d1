package writer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider"
)

// telemetry is what /metrics tells of the writer, beside what it tells of
// every decider.
type telemetry struct {
	decisions            *prometheus.CounterVec
	moves, behind        prometheus.Counter
	clusters, placements prometheus.Gauge
	decide               prometheus.Histogram
}

func newTelemetry(r *decider.Registry) (*telemetry, error) {
	return &telemetry{
		decisions:  r.Vector("decisions_published_total", "Decisions published, by cause.", "cause"),
		moves:      r.Counter("moves_total", "Clusters that came into or went out of a Placement."),
		behind:     r.Counter("behind_total", "Decisions put off because the one before had seen more."),
		clusters:   r.Gauge("clusters", "Clusters in the snapshot."),
		placements: r.Gauge("placements", "Placements in the snapshot."),
		decide:     r.Histogram("decide_seconds", "Time to bring one Placement's ranking up to date.", 1e-5),
	}, r.Err()
}

func (t *telemetry) sizes(clusters, placements int) {
	t.clusters.Set(float64(clusters))
	t.placements.Set(float64(placements))
}
