package access_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// first reads the stream's first message by an ordered consumer.
func first(t *testing.T, js jetstream.JetStream, stream string) (jetstream.Msg, error) {
	t.Helper()
	consumer, err := js.OrderedConsumer(within(t), stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	})
	if err != nil {
		return nil, err
	}
	return consumer.Next(jetstream.FetchMaxWait(patience))
}

func TestOutsideReaderReadsTheMirror(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	subject := events.DecisionSubject(events.KindPlacement, "default", "train")
	h.dial(t, access.PlacementWriter, access.PlacementWriter).store(subject)

	reader := h.outsider(t, "reader")
	awaitMirror(t, reader, subject)
	js, err := jetstream.NewWithDomain(reader.Conn, access.ReadDomain)
	if err != nil {
		t.Fatal(err)
	}
	m, err := first(t, js, events.StreamDecisions)
	if err != nil {
		t.Fatalf("read the mirror: %v", err)
	}
	if m.Subject() != subject || string(m.Data()) != "{}" {
		t.Errorf("read %s %q, want %s {}", m.Subject(), m.Data(), subject)
	}
}

// A mirror that refuses rollups or lifetimes would keep what the original
// has dropped.
func TestTombstoneReachesTheMirror(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	writer := h.dial(t, access.PlacementWriter, access.PlacementWriter)
	subject := events.DecisionSubject(events.KindPlacement, "default", "train")
	for range 3 {
		writer.store(subject)
	}
	tombstone := &nats.Msg{Subject: subject, Data: []byte(`"gone"`), Header: nats.Header{}}
	tombstone.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	tombstone.Header.Set(jetstream.MsgTTLHeader, "1h")
	if _, err := writer.js.PublishMsg(within(t), tombstone); err != nil {
		t.Fatal(err)
	}
	admin := h.dial(t, access.ReadAdmin, access.ReadAdmin)
	await(t, func() bool { return admin.last(events.StreamDecisions, subject) == `"gone"` })
	if got := mirrored(t, h, 1); got != 1 {
		t.Errorf("the mirror holds %d messages, want the tombstone alone", got)
	}
}

func TestOutsidersAreDeniedTheRest(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	for name, tc := range map[string]struct{ user, subject string }{
		"reader publishes":             {"reader", events.MetricSubject("c1", "thanos")},
		"reader decides":               {"reader", events.DecisionSubject(events.KindPlacement, "default", "train")},
		"reader reads HUB":             {"reader", "$JS.API.CONSUMER.CREATE.SW_DECISIONS.x"},
		"reader reads metrics":         {"reader", "$JS.read.API.CONSUMER.CREATE.SW_METRICS.x"},
		"reader creates a stream":      {"reader", "$JS.read.API.STREAM.CREATE.MINE"},
		"reader deletes the mirror":    {"reader", "$JS.read.API.STREAM.DELETE.SW_DECISIONS"},
		"reader poses as the mirror":   {"reader", "$JS.hub.API.CONSUMER.CREATE.SW_DECISIONS"},
		"publisher of another source":  {"thanos", events.MetricSubject("c1", "prom")},
		"publisher of backfill":        {"thanos", events.BackfillSubject("c1", "thanos")},
		"publisher reads":              {"thanos", "$JS.read.API.CONSUMER.CREATE.SW_DECISIONS.x"},
		"publisher drops a letter":     {"thanos", events.DropSubject("1")},
		"publisher asks for something": {"thanos", events.ConfigSubject(events.KindScorer, "", "gpu")},
	} {
		t.Run(name, func(t *testing.T) { h.outsider(t, tc.user).mustDenyPublish(tc.subject) })
	}
	for _, user := range []string{"reader", "thanos"} {
		c := h.outsider(t, user)
		for _, subject := range []string{"sw.>", "_INBOX.>", "_INBOX_operator.>", "mirror.read.>", ">"} {
			c.mustDenySubscribe(subject)
		}
	}
	if ack := h.outsider(t, "thanos").store(events.MetricSubject("c2.eu", "thanos")); ack.Stream != events.StreamMetrics {
		t.Errorf("stored in %s, want %s", ack.Stream, events.StreamMetrics)
	}
}

func TestOperatorReadsEveryStream(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	operator := h.dial(t, access.Operator, access.Operator)
	operator.store(events.MetricSubject("c1", "mine"))
	operator.store(events.ConfigSubject(events.KindScorer, "", "gpu"))
	operator.store(events.ScoreSubject("c1", "mine"))
	operator.store(events.DropSubject("1"))
	for _, stream := range []string{events.StreamMetrics, events.StreamConfig} {
		if _, err := first(t, operator.js, stream); err != nil {
			t.Errorf("read %s: %v", stream, err)
		}
	}
	for _, s := range events.Streams() {
		if _, err := operator.js.OrderedConsumer(within(t), s.Name, jetstream.OrderedConsumerConfig{}); err != nil {
			t.Errorf("read %s: %v", s.Name, err)
		}
	}
	for _, family := range []string{"hub.cluster._", "decision.placement.default", "receipt.placement.default", "dead.scorer"} {
		operator.mustDenyPublish("sw." + family + ".x")
	}
}

func TestOperatorsDurableConsumer(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	operator := h.dial(t, access.Operator, access.Operator)
	operator.store(events.MetricSubject("c1", "mine"))
	consumer, err := operator.js.CreateOrUpdateConsumer(within(t), events.StreamMetrics, jetstream.ConsumerConfig{
		Durable: "mine", AckPolicy: jetstream.AckExplicitPolicy,
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := consumer.Next(jetstream.FetchMaxWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.DoubleAck(within(t)); err != nil {
		t.Errorf("acknowledge: %v", err)
	}
}
