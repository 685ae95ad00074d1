package inventory

import (
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestExplainFindsTheAnswer: a bridge that starts answers decisions and
// requests anew, on the same subject.
func TestExplainFindsTheAnswer(t *testing.T) {
	t.Parallel()
	decision := events.DecisionSubject(events.KindPlacement, "default", "p")
	request := events.ConfigSubject(events.KindPlacement, "default", "p")
	type said struct {
		subject  string
		sequence uint64
		outcome  string
	}
	applied, unchanged := said{decision, 1, schemas.OutcomeApplied}, said{decision, 1, schemas.OutcomeUnchanged}
	asked, refused := said{request, 1, schemas.OutcomeUnchanged}, said{decision, 1, schemas.OutcomeRefused}
	tests := map[string]struct {
		said []said
		want string
	}{
		"nothing said":           {nil, ""},
		"a request only":         {[]said{asked}, ""},
		"applied":                {[]said{applied}, schemas.OutcomeApplied},
		"a request after it":     {[]said{applied, asked}, schemas.OutcomeApplied},
		"restarted":              {[]said{applied, unchanged, asked}, schemas.OutcomeApplied},
		"nothing to do at first": {[]said{unchanged, asked}, schemas.OutcomeUnchanged},
		"refused since":          {[]said{applied, refused, asked}, schemas.OutcomeRefused},
		"mended since":           {[]said{refused, unchanged}, schemas.OutcomeUnchanged},
		"of another decision":    {[]said{{decision, 9, schemas.OutcomeApplied}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t).placement(true).decide(schemas.ModeDirect)
			var receipts []events.Message
			for _, s := range tt.said {
				f.answer(schemas.Receipt{Subject: s.subject, Sequence: s.sequence, ID: "x", Outcome: s.outcome})
				m, err := f.bus.Last(t.Context(), events.StreamReceipts, events.ReceiptSubject(events.KindPlacement, "default", "p"))
				if err != nil {
					t.Fatal(err)
				}
				receipts = append(receipts, m)
			}
			x, err := Explain(f.state, "default", "p", "")
			if err != nil {
				t.Fatal(err)
			}
			x.Answered(receipts)
			got := ""
			if x.Receipt != nil {
				got = x.Receipt.Outcome
			}
			if got != tt.want {
				t.Errorf("the answer is %q, want %q", got, tt.want)
			}
		})
	}
}
