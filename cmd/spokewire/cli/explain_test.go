package cli

import (
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestExplainAfterTheBridgeHasRestarted: then the last receipt is about the
// request, and long after the events.
func TestExplainAfterTheBridgeHasRestarted(t *testing.T) {
	t.Parallel()
	b := fleet(t)
	for _, r := range []schemas.Receipt{
		{Subject: events.DecisionSubject(events.KindPlacement, "default", "train"), Sequence: 2, ID: "decision-2", LagMillis: 9000},
		{Subject: events.ConfigSubject(events.KindPlacement, "default", "train"), Sequence: 2, ID: "request-2", LagMillis: 90_000},
	} {
		r.Outcome = schemas.OutcomeUnchanged
		e, err := events.New(schemas.TypeReceiptRecorded, events.ServiceSource("test"), &r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Publish(t.Context(), receiptsOf("default", "train"), e); err != nil {
			t.Fatal(err)
		}
	}
	x, err := explainPlacement(t.Context(), b, "default/train", "")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := writeExplained(&out, x); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.txt", out.String())
	golden(t, "placements_restarted.txt", listing(t, b, placementsResource(), "default/train"))
}
