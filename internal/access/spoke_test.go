package access_test

import (
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

func TestSpokePublishesItsOwn(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	for _, tc := range []struct{ cluster, subject, stream string }{
		{"c1", events.MetricSubject("c1", "prom"), events.StreamMetrics},
		{"c1", events.BackfillSubject("c1", "kube"), events.StreamBackfill},
		{"c2.eu", events.MetricSubject("c2.eu", "prom"), events.StreamMetrics},
	} {
		ack := h.spoke(t, tc.cluster).store(tc.subject)
		if ack.Stream != tc.stream || ack.Sequence == 0 {
			t.Errorf("%s on %s: stored as %+v, want in %s", tc.cluster, tc.subject, ack, tc.stream)
		}
	}
}

func TestSpokeIsDeniedTheRest(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	spoke := h.spoke(t, "c1")
	for name, subject := range map[string]string{
		"another spoke's metric":   events.MetricSubject("c2.eu", "prom"),
		"an unknown source":        events.MetricSubject("c1", "r1"),
		"a literal wildcard":       "sw.metric.c1.*",
		"a status":                 events.StatusSubject(events.KindDynamicScorer, "ocm", "x"),
		"a score":                  events.ScoreSubject("c1", "gpu"),
		"a decision":               events.DecisionSubject(events.KindPlacement, "default", "train"),
		"the hub's state":          events.HubSubject(events.KindCluster, "", "c1"),
		"a request":                events.ConfigSubject(events.KindScorer, "", "gpu"),
		"a new stream":             "$JS.API.STREAM.CREATE.MINE",
		"a consumer":               "$JS.API.CONSUMER.CREATE.SW_METRICS.mine",
		"the end of a dead letter": events.DropSubject("1"),
		"a message":                "$JS.API.STREAM.MSG.GET.SW_METRICS",
		"a consumer of the mirror": "$JS.read.API.CONSUMER.CREATE.SW_DECISIONS.mine",
		"the system":               "$SYS.REQ.SERVER.PING",
	} {
		t.Run(name, func(t *testing.T) {
			(&client{Conn: spoke.Conn, t: t, denied: spoke.denied}).mustDenyPublish(subject)
		})
	}
	for _, subject := range []string{
		"sw.>", "sw.metric.c2%2Eeu.prom", "_INBOX.>", "_INBOX_c2%2Eeu.>", "_R_.>", "$JS.>", ">",
	} {
		spoke.mustDenySubscribe(subject)
	}
}

// A collector beside the hub speaks for exactly the clusters listed, under
// its own source.
func TestCollectorSpeaksForItsClusters(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	c := h.collector(t, "energy")
	for _, cluster := range []string{"c1", "c2.eu"} {
		if ack := c.store(events.MetricSubject(cluster, "energy")); ack.Stream != events.StreamMetrics {
			t.Errorf("%s: stored as %+v", cluster, ack)
		}
		if ack := c.store(events.BackfillSubject(cluster, "energy")); ack.Stream != events.StreamBackfill {
			t.Errorf("%s: stored as %+v", cluster, ack)
		}
	}
	for _, subject := range []string{
		events.MetricSubject("c3", "energy"), events.MetricSubject("c1", "prom"), events.BackfillSubject("c3", "energy"),
		"sw.metric.*.energy", events.ScoreSubject("c1", "energy"), "$JS.API.CONSUMER.CREATE.SW_METRICS.mine",
	} {
		c.mustDenyPublish(subject)
	}
	for _, subject := range []string{"sw.>", "_INBOX_c1.>", "_INBOX_energy.>", ">"} {
		c.mustDenySubscribe(subject)
	}
	h.spoke(t, "c1").mustDenyPublish(events.MetricSubject("c1", "energy"))
}

func TestSpokeSeesNothingOfAnother(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	victim := h.spoke(t, "c2.eu")
	inbox := victim.NewRespInbox()
	replies, err := victim.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	victim.sync()
	h.spoke(t, "c1").mustDenyPublish(inbox)
	if m, err := replies.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("the inbox of another took %q", m.Data)
	}
}

func TestStreamsAreTheAdmins(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	for _, user := range append(access.Services(), access.Operator) {
		c := h.dial(t, user, user)
		for _, subject := range []string{
			"$JS.API.STREAM.CREATE.MINE", "$JS.API.STREAM.UPDATE.SW_METRICS", "$JS.API.STREAM.DELETE.SW_METRICS",
			"$JS.API.STREAM.PURGE.SW_METRICS", "$JS.API.STREAM.MSG.DELETE.SW_METRICS",
		} {
			c.mustDenyPublish(subject)
		}
	}
	admin := h.dial(t, access.Admin, access.Admin)
	admin.mustDenyPublish(events.MetricSubject("c1", "prom"))
	admin.mustDenySubscribe("sw.>")
}
