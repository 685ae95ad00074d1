package asker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
)

// telemetry is what /metrics tells of asking, beside what it tells of every
// decider.
type telemetry struct {
	items, published, failures         *prometheus.CounterVec
	scorers, pending, calling, waiting prometheus.Gauge

	// Upstream's, by which its dashboards know the scores.
	requests, perform *prometheus.CounterVec
}

func newTelemetry(r *decider.Registry) *telemetry {
	upstream := r.Called("dynamic_scoring_")
	return &telemetry{
		items:     r.Vector("items_total", "Items published, by reason.", "reason"),
		published: r.Vector("scores_published_total", "Scores published, by cause.", "cause"),
		failures:  r.Vector("call_failures_total", "Calls of scoring APIs that failed, by reason.", "reason"),
		scorers:   r.Gauge("scorers", "Dynamic scorers in the snapshot."),
		pending:   r.Gauge("pending", "Scores and statuses that wait to be decided or published."),
		calling:   r.Gauge("calls", "Calls under way."),
		waiting:   r.Gauge("calls_waiting", "Calls that wait for others to end."),
		requests:  upstream.Vector("requests_total", "Calls of scoring APIs, by score and by success or failure.", "score_name", "status"),
		perform:   upstream.Vector("perform_seconds_total", "Seconds that calls of scoring APIs took, by score.", "score_name"),
	}
}

func (t *telemetry) sizes(scorers, pending, calling, waiting int) {
	t.scorers.Set(float64(scorers))
	t.pending.Set(float64(pending))
	t.calling.Set(float64(calling))
	t.waiting.Set(float64(waiting))
}

// called counts one call.
func (t *telemetry) called(scoreName string, f *dynamic.Failure, took time.Duration) {
	t.perform.WithLabelValues(scoreName).Add(took.Seconds())
	if f == nil {
		t.requests.WithLabelValues(scoreName, "success").Inc()
		return
	}
	t.requests.WithLabelValues(scoreName, "failure").Inc()
	t.failures.WithLabelValues(f.Reason).Inc()
}

// forget drops the series of a score that is gone.
func (t *telemetry) forget(scoreName string) {
	t.requests.DeletePartialMatch(prometheus.Labels{"score_name": scoreName})
	t.perform.DeletePartialMatch(prometheus.Labels{"score_name": scoreName})
}
