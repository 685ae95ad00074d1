package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// intruder is a spoke that tries to speak for others, by a stock client.
type intruder struct {
	conn *nats.Conn
	ids  map[string]bool // of what it tried
	done chan struct{}
}

const intruding = "spoke-1"

// intrude tries again and again until ctx ends.
func intrude(ctx context.Context, t *testing.T, w *world, prefix string) *intruder {
	t.Helper()
	url, err := w.stack.NATSURL(access.SpokeUser(intruding))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(url, nats.CustomInboxPrefix(access.InboxPrefix(intruding)),
		nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	in := &intruder{conn: conn, ids: map[string]bool{}, done: make(chan struct{})}
	go func() {
		defer close(in.done)
		defer conn.Close()
		for n := 0; ctx.Err() == nil; n++ {
			in.try(fmt.Sprintf("%sforged-%d", prefix, n))
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return in
}

// try publishes one forged event of every kind, and makes the server's own
// answer to a permitted one land where it must not.
func (in *intruder) try(id string) {
	in.ids[id] = true
	metric := `{"samples":[{"name":"load_free","value":1000}]}`
	for subject, body := range map[string]struct{ eventType, source, body string }{
		events.MetricSubject("spoke-2", load.Metric):                         {schemas.TypeMetricsObserved, events.ClusterSource("spoke-2", load.Metric), metric},
		events.BackfillSubject("spoke-2", workload):                          {schemas.TypeMetricsObserved, events.ClusterSource("spoke-2", workload), metric},
		events.ScoreSubject("spoke-2", load.Scorer):                          {schemas.TypeScoreDeleted, "/services/scorer", `{"name":"load"}`},
		events.HubSubject(events.KindCluster, "", "spoke-2"):                 {schemas.TypeHubClusterDeleted, "/services/hub-bridge", `{"name":"spoke-2"}`},
		events.ConfigSubject(events.KindScorer, "", load.Scorer):             {schemas.TypeConfigScorerDeleted, "/users/me", `{"name":"load"}`},
		events.DecisionSubject(events.KindPlacement, "default", load.Scorer): {schemas.TypePlacementDecisionDeleted, "/services/placement-writer", `{"namespace":"default","name":"load"}`},
	} {
		m := nats.NewMsg(subject)
		m.Header = nats.Header{
			"ce-specversion": {"1.0"}, "ce-id": {id}, "ce-type": {body.eventType}, "ce-source": {body.source},
			"Content-Type": {"application/json"}, "Nats-Rollup": {"sub"},
		}
		m.Data = []byte(body.body)
		if err := in.conn.PublishMsg(m); err != nil && !errors.Is(err, nats.ErrReconnectBufExceeded) {
			return
		}
	}
	own := nats.NewMsg(events.BackfillSubject(intruding, workload))
	own.Reply = events.HubSubject(events.KindCluster, "", "spoke-2")
	own.Data = []byte(`{}`)
	_ = in.conn.PublishMsg(own)
}
