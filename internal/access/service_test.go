package access_test

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// subjectsByStream holds a subject of each stream, with service's own dead
// letter.
func subjectsByStream(service string) map[string]string {
	return map[string]string{
		events.StreamMetrics:   events.MetricSubject("c1", "prom"),
		events.StreamBackfill:  events.BackfillSubject("c1", "prom"),
		events.StreamScores:    events.ScoreSubject("c1", "gpu"),
		events.StreamHub:       events.HubSubject(events.KindCluster, "", "c1"),
		events.StreamConfig:    events.ConfigSubject(events.KindScorer, "", "gpu"),
		events.StreamDecisions: events.DecisionSubject(events.KindPlacement, "default", "train"),
		events.StreamReceipts:  events.ReceiptSubject(events.KindPlacement, "default", "train"),
		events.StreamDead:      events.DeadSubject(service, events.StreamMetrics, 7),
	}
}

func TestServicesPublishAndReadTheirOwn(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	for name, tc := range map[string]struct{ publishes, reads []string }{
		access.HubBridge: {
			publishes: []string{events.StreamHub, events.StreamReceipts, events.StreamDecisions, events.StreamDead},
			reads:     []string{events.StreamHub, events.StreamScores, events.StreamConfig, events.StreamDecisions},
		},
		access.Scorer: {
			publishes: []string{events.StreamScores, events.StreamDead},
			reads:     []string{events.StreamMetrics, events.StreamHub, events.StreamConfig, events.StreamScores},
		},
		access.PlacementWriter: {
			publishes: []string{events.StreamDecisions, events.StreamDead},
			reads:     []string{events.StreamHub, events.StreamScores, events.StreamConfig, events.StreamDecisions},
		},
	} {
		c := h.dial(t, name, name)
		for stream, subject := range subjectsByStream(name) {
			if slices.Contains(tc.publishes, stream) {
				c.store(subject)
				if c.last(stream, subject) == "" {
					t.Errorf("%s cannot read back %s", name, subject)
				}
			} else {
				c.mustDenyPublish(subject)
			}
			if slices.Contains(tc.reads, stream) {
				mustConsume(t, c, stream)
			} else {
				c.mustDenyPublish("$JS.API.CONSUMER.CREATE." + stream + ".x")
			}
		}
		c.mustDenyPublish(events.DeadSubject("another", events.StreamMetrics, 7))
		c.mustDenyPublish(events.DropSubject("1"))
		c.mustDenySubscribe("sw.>")
		c.mustDenySubscribe("_INBOX.>")
	}
}

// mustConsume reads the stream by both kinds of consumers.
func mustConsume(t *testing.T, c *client, stream string) {
	t.Helper()
	if _, err := c.js.OrderedConsumer(within(t), stream, jetstream.OrderedConsumerConfig{}); err != nil {
		t.Errorf("ordered consumer of %s: %v", stream, err)
	}
	durable, err := c.js.CreateOrUpdateConsumer(within(t), stream, jetstream.ConsumerConfig{
		Durable: "d", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		t.Errorf("durable consumer of %s: %v", stream, err)
		return
	}
	batch, err := durable.FetchNoWait(1)
	if err != nil {
		t.Errorf("fetch from %s: %v", stream, err)
		return
	}
	for m := range batch.Messages() {
		if err := m.DoubleAck(within(t)); err != nil {
			t.Errorf("acknowledge in %s: %v", stream, err)
		}
	}
	if err := c.js.DeleteConsumer(within(t), stream, "d"); err != nil {
		t.Errorf("delete a consumer of %s: %v", stream, err)
	}
}

// A decision of a kind that is not theirs.
func TestPlacementServicesDecideOnlyPlacements(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	for _, name := range []string{access.HubBridge, access.PlacementWriter} {
		h.dial(t, name, name).mustDenyPublish(events.DecisionSubject("round", "default", "x"))
	}
}
