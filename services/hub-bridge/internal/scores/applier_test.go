package scores

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

func TestNothingIsKeptOfScoresThatAreGone(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	queue := work.NewQueue("scores", slog.New(slog.DiscardHandler), work.NewMetrics(metrics))
	a := NewApplier(Options{Clock: events.NewClock(nil), Metrics: metrics, Budget: 1}, queue)
	for _, scorer := range []string{"gpu", "carbon"} {
		subject := events.ScoreSubject("spoke-1", scorer)
		entry := &Entry{Subject: subject, Sequence: 1}
		a.changed(subject, nil, entry)
		a.refused[subject] = "NotOurs"
		defer func() {
			a.changed(subject, entry, nil)
			if len(a.refused) != len(a.subject["spoke-1"]) || len(a.subject) > len(a.refused) {
				t.Errorf("it keeps %v of %v", a.refused, a.subject)
			}
		}()
	}
}
