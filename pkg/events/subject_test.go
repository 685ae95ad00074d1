package events_test

import (
	"errors"
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestSubject(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		subject, want string
		wantParsed    events.Subject
	}{
		"metric": {events.MetricSubject("eu.1", "node"), "sw.metric.eu%2E1.node",
			events.Subject{Family: "metric", Cluster: "eu.1", Name: "node"}},
		"backfill": {events.BackfillSubject("c", "node/1"), "sw.backfill.c.node%2F1",
			events.Subject{Family: "backfill", Cluster: "c", Name: "node/1"}},
		"score": {events.ScoreSubject("c", "gpu"), "sw.score.c.gpu",
			events.Subject{Family: "score", Cluster: "c", Name: "gpu"}},
		"hub, without a namespace": {events.HubSubject(events.KindCluster, "", "eu.1"), "sw.hub.cluster._.eu%2E1",
			events.Subject{Family: "hub", Kind: "cluster", Name: "eu.1"}},
		"hub, a namespace called _": {events.HubSubject(events.KindPlacement, "_", "p"), "sw.hub.placement.%5F.p",
			events.Subject{Family: "hub", Kind: "placement", Namespace: "_", Name: "p"}},
		"config": {events.ConfigSubject(events.KindScorer, "", "gpu"), "sw.config.scorer._.gpu",
			events.Subject{Family: "config", Kind: "scorer", Name: "gpu"}},
		"decision": {events.DecisionSubject(events.KindPlacement, "default", "train"), "sw.decision.placement.default.train",
			events.Subject{Family: "decision", Kind: "placement", Namespace: "default", Name: "train"}},
		"receipt": {events.ReceiptSubject(events.KindScore, "c", "gpu"), "sw.receipt.score.c.gpu",
			events.Subject{Family: "receipt", Kind: "score", Namespace: "c", Name: "gpu"}},
		"a drop": {events.DropSubject("5F-c"), "sw.dead.operator.5F-c",
			events.Subject{Family: "dead", Name: "operator", Namespace: "5F-c"}},
		"dead": {events.DeadSubject("scorer", "SW_METRICS", 7), "sw.dead.scorer.SW_METRICS-7",
			events.Subject{Family: "dead", Name: "scorer", Namespace: "SW_METRICS-7"}},
	} {
		if test.subject != test.want {
			t.Errorf("%s: subject is %q, want %q", name, test.subject, test.want)
		}
		got, err := events.ParseSubject(test.want)
		if err != nil || got != test.wantParsed {
			t.Errorf("%s: ParseSubject = %+v, %v, want %+v", name, got, err, test.wantParsed)
		}
		if got.String() != test.want {
			t.Errorf("%s: String() = %q, want %q", name, got, test.want)
		}
		if err := events.CheckSubject(test.want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseSubjectRefuses(t *testing.T) {
	t.Parallel()
	for name, subject := range map[string]string{
		"empty":                    "",
		"another's":                "other.metric.c.s",
		"an unknown family":        "sw.wish.c.s",
		"too few tokens":           "sw.metric.c",
		"too many tokens":          "sw.metric.c.s.t",
		"a hub subject too short":  "sw.hub.cluster.a",
		"a literal star":           "sw.metric.*.s",
		"a literal rest":           "sw.metric.c.>",
		"an empty token":           "sw.metric..s",
		"no cluster":               "sw.metric._.s",
		"a name that is nothing":   "sw.hub.cluster._._",
		"nothing for a dead one":   "sw.dead.scorer._",
		"a zero-width token":       "sw.metric.\u200b.s",
		"encoded without any need": "sw.metric.%61.s",
	} {
		if got, err := events.ParseSubject(subject); !errors.Is(err, events.ErrBadSubject) {
			t.Errorf("%s: ParseSubject(%q) = %+v, %v, want ErrBadSubject", name, subject, got, err)
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
