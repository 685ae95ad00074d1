package requests

import (
	"context"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

func TestNothingIsKeptOfARequestThatIsGone(t *testing.T) {
	t.Parallel()
	queue := work.NewQueue("requests", slog.New(slog.DiscardHandler), work.NewMetrics(prometheus.NewRegistry()))
	a := NewApplier(Options{Clock: events.NewClock(nil), Record: func(context.Context, receipt.Answer) {}}, queue)
	entry := &Entry{Subject: "sw.config.placement.ns.p", Sequence: 1}
	a.answer(t.Context(), entry, nil, schemas.OutcomeUnchanged, "", "")
	a.changed(entry.Subject, nil, entry)
	if len(a.memory.subjects) != 1 {
		t.Fatal("it does not know what it answered")
	}
	a.changed(entry.Subject, entry, nil)
	if len(a.memory.subjects) != 0 || queue.Len() != 1 {
		t.Errorf("it knows %v, with %d in the queue", a.memory.subjects, queue.Len())
	}
}

// TestMemoryOfRefusedRequestsIsBounded: the one in force stays known.
func TestMemoryOfRefusedRequestsIsBounded(t *testing.T) {
	t.Parallel()
	m := memory{subjects: map[string]*known{}}
	at := func(sequence uint64) *Entry { return &Entry{Subject: "s", Sequence: sequence} }
	m.news(at(5), nil, answered{schemas.OutcomeApplied, ""})
	for sequence := uint64(6); sequence < 500; sequence++ {
		m.news(at(sequence), nil, answered{schemas.OutcomeRefused, "BadPayload"})
		m.bury(at(sequence), at(5))
		m.overtake(at(sequence))
		if open := m.open("s"); len(open) != 0 {
			t.Fatalf("%d is answered, and yet open", sequence)
		}
	}
	k := m.subjects["s"]
	if _, known := k.answers[5]; !known || len(k.answers) > maxKept+1 || len(k.dead) > maxKept {
		t.Errorf("%d answers (that in force: %t) and %d refused requests are kept", len(k.answers), known, len(k.dead))
	}
	if earlier, dead := m.standIn(at(499)); !dead || earlier.Sequence != 5 {
		t.Errorf("%v stands in for the last (%t)", earlier, dead)
	}
}
