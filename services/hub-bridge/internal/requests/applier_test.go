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
	if len(a.known) != 1 {
		t.Fatal("it does not know what it answered")
	}
	a.changed(entry.Subject, entry, nil)
	if len(a.known) != 0 || queue.Len() != 1 {
		t.Errorf("it knows %v, with %d in the queue", a.known, queue.Len())
	}
}
