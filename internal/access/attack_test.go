package access_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// stateSubjects are subjects of every stream that decides something.
func stateSubjects() []string {
	return []string{
		events.HubSubject(events.KindCluster, "", "x"),
		events.ScoreSubject("c1", "gpu"),
		events.ConfigSubject(events.KindScorer, "", "gpu"),
		events.DecisionSubject(events.KindPlacement, "default", "train"),
		events.ReceiptSubject(events.KindPlacement, "default", "train"),
		events.DeadSubject(access.Scorer, events.StreamMetrics, 1),
		events.DropSubject("1"),
		events.StatusSubject(events.KindDynamicScorer, "ocm", "x"),
		events.MetricSubject("c2.eu", "prom"),
	}
}

// publishWithReplies is the attack: an allowed publish that asks for its
// acknowledgement on a subject where state is kept.
func publishWithReplies(t *testing.T, c *client, subject string) {
	t.Helper()
	for _, reply := range stateSubjects() {
		if err := c.PublishRequest(subject, reply, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	// The acknowledgement of a stream's messages go out in their order.
	c.store(subject)
}

// messages counts what each stream holds.
func messages(t *testing.T, js jetstream.JetStream) map[string]uint64 {
	t.Helper()
	counts := map[string]uint64{}
	for _, s := range events.Streams() {
		stream, err := js.Stream(within(t), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		counts[s.Name] = stream.CachedInfo().State.Msgs
	}
	return counts
}

func TestAcknowledgementIsNotStoredAsState(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	publishWithReplies(t, h.spoke(t, "c1"), events.MetricSubject("c1", "prom"))
	publishWithReplies(t, h.outsider(t, "thanos"), events.MetricSubject("c1", "thanos"))

	// Each stream takes one more message behind whatever came before.
	bridge, scorer := h.dial(t, access.HubBridge, access.HubBridge), h.dial(t, access.Scorer, access.Scorer)
	operator := h.dial(t, access.Operator, access.Operator)
	bridge.store(events.HubSubject(events.KindCluster, "", "y"))
	bridge.store(events.DecisionSubject(events.KindPlacement, "default", "y"))
	bridge.store(events.ReceiptSubject(events.KindPlacement, "default", "y"))
	scorer.store(events.ScoreSubject("c1", "y"))
	scorer.store(events.StatusSubject(events.KindDynamicScorer, "ocm", "y"))
	scorer.store(events.DeadSubject(access.Scorer, events.StreamMetrics, 2))
	operator.store(events.ConfigSubject(events.KindScorer, "", "y"))

	published := uint64(2 * (len(stateSubjects()) + 1))
	for stream, n := range messages(t, operator.js) {
		want := map[string]uint64{events.StreamMetrics: published, events.StreamBackfill: 0}
		expected, special := want[stream]
		if !special {
			expected = 1
		}
		if n != expected {
			t.Errorf("%s holds %d messages, want %d", stream, n, expected)
		}
	}
	if got := operator.last(events.StreamMetrics, events.MetricSubject("c2.eu", "prom")); got != "" {
		t.Errorf("the metric of another spoke became %q", got)
	}
}

// victim is a subject of HUB that a consumer of another is made to deliver
// to. The server starts a push consumer only for a literal subscription.
func victim() string { return events.HubSubject(events.KindCluster, "", "forged") }

// pushInto is the attack of a reader: a consumer that delivers to subjects
// where the reader may not publish.
func pushInto(t *testing.T, c *client, apiPrefix, name, deliver string) {
	t.Helper()
	createConsumer(t, c, apiPrefix, name, map[string]any{"deliver_subject": deliver})
}

// pullInto is the same with an honest consumer and a pull that asks for its
// messages on another subject.
func pullInto(t *testing.T, c *client, apiPrefix, name, reply string) {
	t.Helper()
	createConsumer(t, c, apiPrefix, name, map[string]any{})
	next := apiPrefix + "CONSUMER.MSG.NEXT." + events.StreamDecisions + "." + name
	if err := c.PublishRequest(next, reply, []byte(`{"batch": 10, "expires": 5000000000}`)); err != nil {
		t.Fatal(err)
	}
	c.sync()
}

func createConsumer(t *testing.T, c *client, apiPrefix, name string, config map[string]any) {
	t.Helper()
	maps.Copy(config, map[string]any{
		"name": name, "deliver_policy": "all", "ack_policy": "none", "replay_policy": "instant",
		"inactive_threshold": int64(time.Minute),
	})
	request, err := json.Marshal(map[string]any{"stream_name": events.StreamDecisions, "action": "create", "config": config})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.RequestWithContext(within(t), apiPrefix+"CONSUMER.CREATE."+events.StreamDecisions+"."+name, request)
	if err != nil {
		t.Fatalf("consumer %v: %v", config, err)
	}
	t.Logf("consumer %s: %.120s", name, answer.Data)
}

func TestReadersConsumerCannotDeliverIntoHub(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	writer, reader := h.dial(t, access.PlacementWriter, access.PlacementWriter), h.outsider(t, "reader")
	operator := h.dial(t, access.Operator, access.Operator)
	heard, err := operator.SubscribeSync(victim())
	if err != nil {
		t.Fatal(err)
	}
	operator.sync()
	for i, deliver := range []string{
		victim(), "$JS.hub.API.CONSUMER.CREATE.SW_DECISIONS", "mirror.read.x", "$JS.FC.SW_DECISIONS.x.y", events.MetricSubject("c1", "prom"),
	} {
		pushInto(t, reader, "$JS.read.API.", fmt.Sprintf("push%d", i), deliver)
		pullInto(t, reader, "$JS.read.API.", fmt.Sprintf("pull%d", i), deliver)
	}
	for _, name := range []string{"first", "second"} {
		subject := events.DecisionSubject(events.KindPlacement, "default", name)
		writer.store(subject)
		awaitMirror(t, reader, subject)
	}
	for stream, n := range messages(t, operator.js) {
		want := uint64(0)
		if stream == events.StreamDecisions {
			want = 2
		}
		if n != want {
			t.Errorf("%s holds %d messages, want %d", stream, n, want)
		}
	}
	if got := mirrored(t, h, 2); got != 2 {
		t.Errorf("the mirror holds %d messages, want 2", got)
	}
	if m, err := heard.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("a subscriber in HUB was sent %q", m.Data)
	}
}

// sharedAccount is what the layout is not: the same users with the same
// permissions in one account. The attacks above must succeed there, else
// they prove nothing.
func sharedAccount(t *testing.T) string {
	return startServer(t, fmt.Sprintf(`
listen: "127.0.0.1:-1"
jetstream: {store_dir: %q, max_file_store: 64GB}
accounts { ALL { jetstream: enabled, users: [
  {user: admin, password: x}
  {user: c1, password: x, permissions: {publish: {allow: ["sw.metric.c1.prom"]}, subscribe: {allow: ["_INBOX_c1.>"]}}}
  {user: reader, password: x, permissions: {
    publish: {allow: ["$JS.API.CONSUMER.CREATE.SW_DECISIONS.>", "$JS.API.CONSUMER.MSG.NEXT.SW_DECISIONS.*"]}, subscribe: {allow: ["_INBOX_reader.>"]}}}
]}}`, t.TempDir()))
}

func sharedURL(url, user string) string {
	return strings.Replace(url, "nats://", "nats://"+user+":x@", 1)
}

func dialShared(t *testing.T, url, user string) *client {
	return dialURL(t, sharedURL(url, user), access.InboxPrefix(user))
}

func TestOneSharedAccountFallsToTheAttacks(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(t *testing.T, url string){
		"acknowledgement": func(t *testing.T, url string) {
			publishWithReplies(t, dialShared(t, url, "c1"), events.MetricSubject("c1", "prom"))
		},
		"push": func(t *testing.T, url string) {
			pushInto(t, dialShared(t, url, "reader"), "$JS.API.", "push", victim())
		},
		"pull": func(t *testing.T, url string) {
			pullInto(t, dialShared(t, url, "reader"), "$JS.API.", "pull", victim())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := sharedAccount(t)
			admin := dialShared(t, url, "admin")
			createStreams(t, sharedURL(url, "admin"), "admin")
			if _, err := admin.SubscribeSync(victim()); err != nil {
				t.Fatal(err)
			}
			admin.store(events.DecisionSubject(events.KindPlacement, "default", "train"))
			attack(t, url)
			await(t, func() bool { return messages(t, admin.js)[events.StreamHub] > 0 })
		})
	}
}
