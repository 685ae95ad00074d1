package scores

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
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

// TestScoresWaitWhileServerTimeIsBack: they would look expired.
func TestScoresWaitWhileServerTimeIsBack(t *testing.T) {
	t.Parallel()
	metrics, clock := prometheus.NewRegistry(), events.NewClock(nil)
	queue := work.NewQueue("scores", slog.New(slog.DiscardHandler), work.NewMetrics(metrics))
	a := NewApplier(Options{Clock: clock, Metrics: metrics, Budget: 1}, queue)
	subject := events.ScoreSubject("spoke-1", "gpu")
	bus := eventstest.NewBus()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Ledger.Run(ctx, bus, events.Watch{Stream: events.StreamScores}) }()
	event, err := events.New(schemas.TypeScoreDeleted, "/test", &schemas.Deleted{Name: "gpu"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.Publish(ctx, subject, event); err != nil {
		t.Fatal(err)
	}
	for a.Ledger.Get(subject) == nil || !a.Ledger.Synced() {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	clock.Follow(time.Now().Add(-time.Hour), true)
	// Without a Hub to look at, it could do nothing but wait.
	if again, err := a.handle(t.Context(), subject); err != nil || again <= 0 || again > events.LeapHold {
		t.Errorf("looks again in %v (%v)", again, err)
	}
}
