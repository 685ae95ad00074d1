package access_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// JetStream takes a second message with an id of the first for a duplicate,
// whoever sends it: with a guessed id a spoke could swallow what another
// publishes.
func TestAnothersMessageIDSwallowsNothing(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	subject := events.MetricSubject("c2.eu", "prom")
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("c2.eu", "prom"),
		&schemas.Metrics{Samples: []schemas.Sample{{Name: "gpu_free", Value: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	stolen := h.spoke(t, "c1").store(events.MetricSubject("c1", "prom"), jetstream.WithMsgID(e.ID()))

	victim := connect(t, h.urlOf(t, access.SpokeUser("c2.eu")), "c2.eu")
	ack, err := victim.Publish(within(t), subject, e)
	if err != nil {
		t.Fatal(err)
	}
	if ack.Sequence == stolen.Sequence {
		t.Errorf("the publish was taken for the message %d of another", stolen.Sequence)
	}
	operator := connect(t, h.urlOf(t, access.Operator), access.Operator)
	m, err := operator.Last(within(t), events.StreamMetrics, subject)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := events.Read(m); err != nil || got.Event.ID() != e.ID() || m.Sequence != ack.Sequence {
		t.Errorf("stored as %d: %v (%v), want %s as %d", m.Sequence, got.Event.ID(), err, e.ID(), ack.Sequence)
	}
}
