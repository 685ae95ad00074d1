package writer

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// A store that was restored is less far than it was: decisions must not claim
// to rest on what is gone, or no replica could follow them.
func TestRestoredStreamIsLessFar(t *testing.T) {
	t.Parallel()
	b := eventstest.NewBus()
	hub{t, b}.score("a", 50, time.Hour)
	scored, err := b.Last(t.Context(), events.StreamScores, events.ScoreSubject("a", "gpu"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(decidertest.Config(t, b, noop.NewTracerProvider()))
	if err != nil {
		t.Fatal(err)
	}
	stored := func(sequence uint64) {
		scored.Sequence = sequence
		w.Fold(events.Update{Kind: events.Stored, Message: scored})
	}
	synced := func(sequence uint64) {
		w.Fold(events.Update{Kind: events.Synced, Message: events.Message{Stream: events.StreamScores, Sequence: sequence}})
	}
	check := func(when string, want uint64) {
		t.Helper()
		if basis, seen := w.fleet.Basis()[events.StreamScores], w.seen.scores["gpu"]; basis != want || seen > want {
			t.Errorf("%s: decisions rest on SW_SCORES up to %d and scorer gpu was seen up to %d, want %d", when, basis, seen, want)
		}
	}
	stored(100)
	synced(100)
	check("at first", 100)
	w.Fold(events.Update{Kind: events.Behind, Message: events.Message{Stream: events.StreamScores}})
	synced(40)
	check("restored, with nothing new", 40)
	w.Fold(events.Update{Kind: events.Behind, Message: events.Message{Stream: events.StreamScores}})
	stored(60) // came while the stream was read
	synced(50)
	check("restored, and going on", 60)
}
