package events_test

import (
	"errors"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestSubject(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ subject, want string }{
		"metric":                    {events.MetricSubject("eu.1", "node"), "sw.metric.eu%2E1.node"},
		"backfill":                  {events.BackfillSubject("c", "node/1"), "sw.backfill.c.node%2F1"},
		"score":                     {events.ScoreSubject("c", "gpu"), "sw.score.c.gpu"},
		"hub, without a namespace":  {events.HubSubject(events.KindCluster, "", "eu.1"), "sw.hub.cluster._.eu%2E1"},
		"hub, a namespace called _": {events.HubSubject(events.KindPlacement, "_", "p"), "sw.hub.placement.%5F.p"},
		"config":                    {events.ConfigSubject(events.KindScorer, "", "gpu"), "sw.config.scorer._.gpu"},
		"decision":                  {events.DecisionSubject(events.KindPlacement, "default", "train"), "sw.decision.placement.default.train"},
		"receipt":                   {events.ReceiptSubject(events.KindScore, "c", "gpu"), "sw.receipt.score.c.gpu"},
		"a drop":                    {events.DropSubject("5F-c"), "sw.dead.operator.5F-c"},
		"dead":                      {events.DeadSubject("scorer", "SW_METRICS", 7), "sw.dead.scorer.SW_METRICS-7"},
	} {
		if test.subject != test.want {
			t.Errorf("%s: subject is %q, want %q", name, test.subject, test.want)
		}
	}
}

func TestParseSubject(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).Subjects {
		got, err := events.ParseSubject(v.Text)
		if err != nil || got != v.Parsed {
			t.Errorf("ParseSubject(%q) = %+v, %v, want %+v", v.Text, got, err, v.Parsed)
		}
		if got.String() != v.Text {
			t.Errorf("String() = %q, want %q", got, v.Text)
		}
		if err := events.CheckSubject(v.Text); err != nil {
			t.Error(err)
		}
	}
}

func TestParseSubjectRefuses(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t).RefusedSubjects {
		if got, err := events.ParseSubject(v.Subject); !errors.Is(err, events.ErrBadSubject) {
			t.Errorf("%s: ParseSubject(%q) = %+v, %v, want ErrBadSubject", v.Why, v.Subject, got, err)
		}
	}
}

// TestSubjectsHaveStreams: each family belongs to exactly one stream.
func TestSubjectsHaveStreams(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		events.MetricSubject("c.1", "s"):              events.StreamMetrics,
		events.BackfillSubject("c", "s"):              events.StreamBackfill,
		events.ScoreSubject("c", "s"):                 events.StreamScores,
		events.HubSubject("cluster", "", "c"):         events.StreamHub,
		events.ConfigSubject("scorer", "", "s"):       events.StreamConfig,
		events.DecisionSubject("placement", "n", "p"): events.StreamDecisions,
		events.ReceiptSubject("placement", "n", "p"):  events.StreamReceipts,
		events.DeadSubject("s", "SW_METRICS", 1):      events.StreamDead,
	} {
		var found []string
		for _, s := range events.Streams() {
			watch := events.Watch{Stream: s.Name, Subjects: append([]string{subject}, s.Subjects...)}
			if errors.Is(watch.Validate(), events.ErrInvalidOption) { // they overlap
				found = append(found, s.Name)
			}
		}
		if len(found) != 1 || found[0] != want {
			t.Errorf("%s is taken by %v, want %s", subject, found, want)
		}
	}
}

func FuzzParseSubject(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		s, err := events.ParseSubject(text)
		if err != nil {
			if !errors.Is(err, events.ErrBadSubject) {
				t.Errorf("err = %v, want ErrBadSubject", err)
			}
			return
		}
		if s.String() != text {
			t.Errorf("%q was read as %+v, which is written as %q", text, s, s)
		}
		if err := events.CheckSubject(text); err != nil {
			t.Errorf("%q was read but is no subject: %v", text, err)
		}
	})
}
