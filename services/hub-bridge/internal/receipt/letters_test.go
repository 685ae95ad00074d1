package receipt_test

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
)

// TestLettersAreCountedOnceKept: an attempt that failed is repeated by whoever
// made it.
func TestLettersAreCountedOnceKept(t *testing.T) {
	t.Parallel()
	bus, metrics := eventstest.NewBus(), prometheus.NewRegistry()
	letters := receipt.NewLetters(bus, "hub-bridge", metrics)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := events.Message{Stream: events.StreamDecisions, Subject: "sw.decision.placement.a.b", Sequence: 7}
	bad := &events.BadInput{Reason: "BadDecision", Err: errors.New("odd")}
	if err := letters.Bury(ended, m, bad); err == nil {
		t.Error("buried by a context that has ended")
	}
	if err := letters.Bury(t.Context(), m, bad); err != nil {
		t.Fatal(err)
	}
	if n := len(bus.Messages(events.StreamDead)); n != 1 {
		t.Errorf("%d letters", n)
	}
	families, err := metrics.Gather()
	if err != nil || len(families) != 1 {
		t.Fatal(families, err)
	}
	series := families[0].GetMetric()
	if len(series) != 1 || series[0].GetCounter().GetValue() != 1 || series[0].GetLabel()[0].GetValue() != "BadDecision" {
		t.Errorf("counted: %v", series)
	}
}
