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
	var subjects []string
	for _, scorer := range []string{"gpu", "carbon"} {
		subject := events.ScoreSubject("spoke-1", scorer)
		a.changed(subject, nil, &Entry{Subject: subject})
		a.refused[subject] = "NotOurs"
		subjects = append(subjects, subject)
	}
	for _, subject := range subjects {
		if len(a.subject["spoke-1"]) == 0 {
			t.Errorf("%s went with another", subject)
		}
		a.changed(subject, &Entry{Subject: subject}, nil)
	}
	if len(a.refused) != 0 || len(a.subject) != 0 {
		t.Errorf("it keeps %v and %v", a.refused, a.subject)
	}
}
