package engine

import (
	"github.com/prometheus/client_golang/prometheus"
)

// telemetry is what /metrics tells of the engine.
type telemetry struct {
	folded, evaluations, published, dead    *prometheus.CounterVec
	conflicts, failures, jumps, deadDropped prometheus.Counter
	clusters, scorers, pending              prometheus.Gauge
	lag                                     prometheus.Histogram
}

func newTelemetry(r prometheus.Registerer) (*telemetry, error) {
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokewire_scorer_" + name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "spokewire_scorer_" + name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "spokewire_scorer_" + name, Help: help})
	}
	t := &telemetry{
		folded:      vector("events_folded_total", "Events taken into the snapshot.", "stream"),
		evaluations: vector("evaluations_total", "Items computed, by the reason that they got.", "scorer", "reason"),
		published:   vector("scores_published_total", "Scores published, by cause.", "cause"),
		dead:        vector("dead_letters_total", "Messages refused, by reason.", "reason"),
		conflicts:   counter("publish_conflicts_total", "Scores that another replica published first."),
		failures:    counter("publish_failures_total", "Scores that could not be published at the first attempt."),
		jumps:       counter("clock_jumps_total", "Leaps of server time by more than a minute."),
		deadDropped: counter("dead_letters_dropped_total", "Messages refused that could not be kept."),
		clusters:    gauge("clusters", "Clusters in the snapshot."),
		scorers:     gauge("scorers", "Scorers in the snapshot."),
		pending:     gauge("pending", "Pairs of a cluster and a scorer that wait to be scored or published."),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "spokewire_scorer_lag_seconds", Help: "From the receipt of the event that set a score off to the score's receipt.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 18),
		}),
	}
	for _, c := range []prometheus.Collector{
		t.folded, t.evaluations, t.published, t.dead, t.conflicts, t.failures, t.jumps, t.deadDropped, t.clusters, t.scorers, t.pending, t.lag,
	} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *telemetry) sizes(clusters, scorers int) {
	t.clusters.Set(float64(clusters))
	t.scorers.Set(float64(scorers))
}

// forget drops the series of a scorer that changed or is gone.
func (t *telemetry) forget(scorer string) {
	t.evaluations.DeletePartialMatch(prometheus.Labels{"scorer": scorer})
}
