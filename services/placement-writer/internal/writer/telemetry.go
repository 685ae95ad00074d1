package writer

import "github.com/prometheus/client_golang/prometheus"

// telemetry is what /metrics tells of the writer.
type telemetry struct {
	folded, decisions, dead                                *prometheus.CounterVec
	moves, conflicts, failures, behind, jumps, deadDropped prometheus.Counter
	clusters, placements                                   prometheus.Gauge
	decide, lag                                            prometheus.Histogram
}

const namePrefix = "spokewire_placement_writer_"

func newTelemetry(r prometheus.Registerer) (*telemetry, error) {
	t := &telemetry{
		folded:      vector("events_folded_total", "Events taken into the snapshot.", "stream"),
		decisions:   vector("decisions_published_total", "Decisions published, by cause.", "cause"),
		dead:        vector("dead_letters_total", "Messages refused, by reason.", "reason"),
		moves:       counter("moves_total", "Clusters that came into or went out of a Placement."),
		conflicts:   counter("publish_conflicts_total", "Decisions that another replica published first."),
		failures:    counter("publish_failures_total", "Decisions that could not be published at the first attempt."),
		behind:      counter("behind_total", "Decisions put off because the one before had seen more."),
		jumps:       counter("clock_jumps_total", "Leaps of server time by more than a minute."),
		deadDropped: counter("dead_letters_dropped_total", "Messages refused that could not be kept."),
		clusters:    gauge("clusters", "Clusters in the snapshot."),
		placements:  gauge("placements", "Placements in the snapshot."),
		decide:      histogram("decide_seconds", "Time to bring one Placement's ranking up to date.", 1e-5),
		lag:         histogram("lag_seconds", "From the receipt of the event that set a decision off to the decision's receipt.", 5e-4),
	}
	for _, c := range []prometheus.Collector{
		t.folded, t.decisions, t.dead, t.moves, t.conflicts, t.failures, t.behind, t.jumps, t.deadDropped, t.clusters, t.placements, t.decide, t.lag,
	} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func vector(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: namePrefix + name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: namePrefix + name, Help: help})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: namePrefix + name, Help: help})
}

func histogram(name, help string, first float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Name: namePrefix + name, Help: help, Buckets: prometheus.ExponentialBuckets(first, 2, 18)})
}

func (t *telemetry) sizes(clusters, placements int) {
	t.clusters.Set(float64(clusters))
	t.placements.Set(float64(placements))
}
