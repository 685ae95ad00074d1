package writer

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider"
)

// telemetry is what /metrics tells of the writer, beside what it tells of
// every decider.
type telemetry struct {
	decisions, shadowDecisions     *prometheus.CounterVec
	moves, shadowMoves, behind     prometheus.Counter
	expressions                    prometheus.Counter
	clusters, placements           prometheus.Gauge
	shadowPlacements, shadowChosen *prometheus.GaugeVec
	decide                         prometheus.Histogram
}

func newTelemetry(r *decider.Registry) (*telemetry, error) {
	return &telemetry{
		decisions:        r.Vector("decisions_published_total", "Decisions published, by cause.", "cause"),
		moves:            r.Counter("moves_total", "Clusters that came into or went out of a Placement."),
		behind:           r.Counter("behind_total", "Decisions put off because the one before had seen more."),
		expressions:      r.Counter("expressions_total", "CEL selectors evaluated on a cluster."),
		clusters:         r.Gauge("clusters", "Clusters in the snapshot."),
		placements:       r.Gauge("placements", "Placements in the snapshot."),
		decide:           r.Histogram("decide_seconds", "Time to bring one Placement's ranking up to date.", 1e-5),
		shadowDecisions:  r.Vector("shadow_decisions_published_total", "Decisions of Placements in shadow published, by cause.", "cause"),
		shadowMoves:      r.Counter("shadow_moves_total", "Clusters that would have come into or gone out of a Placement in shadow."),
		shadowPlacements: r.Gauges("shadow_placements", "Placements in shadow, by whether their decision agrees with what the hub has: agrees, differs, undecided.", "verdict"),
		shadowChosen:     r.Gauges("shadow_clusters", "Clusters selected for Placements in shadow, by who selects them: both, ocm, spokewire.", "selected_by"),
	}, r.Err()
}

func (t *telemetry) published(x *deciding) {
	decisions, moves := t.decisions, t.moves
	if x.desk.shadow {
		decisions, moves = t.shadowDecisions, t.shadowMoves
	}
	decisions.WithLabelValues(x.cause()).Inc()
	if x.decision != nil {
		moves.Add(float64(len(x.decision.Added) + len(x.decision.Removed)))
	}
}

func (t *telemetry) sizes(clusters, placements int, s *shadows) {
	t.clusters.Set(float64(clusters))
	t.placements.Set(float64(placements))
	for verdict, n := range s.verdicts {
		t.shadowPlacements.WithLabelValues(verdict).Set(float64(n))
	}
	for who, n := range s.clusters {
		t.shadowChosen.WithLabelValues(who).Set(float64(n))
	}
}
