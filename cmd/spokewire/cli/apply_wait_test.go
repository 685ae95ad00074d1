package cli

import (
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestAnswerToARequest: the receipts of a Placement are about its requests and
// its decisions, and those of one that was overtaken may never come.
func TestAnswerToARequest(t *testing.T) {
	t.Parallel()
	asked, err := events.New(schemas.TypeConfigPlacementDeleted, "/cli", &schemas.Deleted{Namespace: "ns", Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	subject := events.ConfigSubject(events.KindPlacement, "ns", "p")
	decision := events.DecisionSubject(events.KindPlacement, "ns", "p")
	r := &request{subject: subject, event: asked}
	for name, tt := range map[string]struct {
		receipt schemas.Receipt
		want    string // outcome, or empty for no answer
	}{
		"its own":                   {schemas.Receipt{Subject: subject, Sequence: 5, ID: asked.ID(), Outcome: schemas.OutcomeRefused}, schemas.OutcomeRefused},
		"an earlier one's":          {schemas.Receipt{Subject: subject, Sequence: 4, ID: "x", Outcome: schemas.OutcomeApplied}, ""},
		"a later one's":             {schemas.Receipt{Subject: subject, Sequence: 6, ID: "x", Outcome: schemas.OutcomeUnchanged}, schemas.OutcomeSuperseded},
		"a later one's, refused":    {schemas.Receipt{Subject: subject, Sequence: 6, ID: "x", Outcome: schemas.OutcomeRefused}, ""},
		"a later one's, superseded": {schemas.Receipt{Subject: subject, Sequence: 6, ID: "x", Outcome: schemas.OutcomeSuperseded}, ""},
		"a decision's":              {schemas.Receipt{Subject: decision, Sequence: 6, ID: "x", Outcome: schemas.OutcomeApplied}, ""},
	} {
		bus := eventstest.NewBus()
		e, err := events.New(schemas.TypeReceiptRecorded, "/bridge", &tt.receipt)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bus.Publish(t.Context(), events.ReceiptSubject(events.KindPlacement, "ns", "p"), e); err != nil {
			t.Fatal(err)
		}
		got := ""
		if answer := r.answeredBy(bus.Messages(events.StreamReceipts)[0], 5); answer != nil {
			got = answer.Outcome
		}
		if got != tt.want {
			t.Errorf("%s: the answer is %q, want %q", name, got, tt.want)
		}
	}
}
