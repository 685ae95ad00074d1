package access_test

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// TestASpokeAnswersForItself: a cluster's collector is asked by the scorer,
// and answers for no other cluster, once, and to nobody else.
func TestASpokeAnswersForItself(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	scorer, spoke, other := h.dial(t, access.Scorer, access.Scorer), h.spoke(t, "c1"), h.spoke(t, "c2.eu")
	if _, err := scorer.RequestWithContext(within(t), events.QuerySubject("c1"), nil); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("before anybody answers the error is %v", err)
	}
	asked := make(chan *nats.Msg, 1)
	if _, err := spoke.ChanSubscribe(events.QuerySubject("c1"), asked); err != nil {
		t.Fatal(err)
	}
	spoke.sync()
	answer := make(chan string, 1)
	go func() {
		m, err := scorer.RequestWithContext(within(t), events.QuerySubject("c1"), []byte("how many"))
		if err != nil {
			answer <- err.Error()
			return
		}
		answer <- string(m.Data)
	}()
	question := <-asked
	other.mustDenyPublish(question.Reply) // also if it knew where the answer is to go
	if err := question.Respond([]byte("three")); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got != "three" {
		t.Errorf("the answer is %q", got)
	}
	spoke.mustDeny("a second answer", func() error { return question.Respond([]byte("four")) })
	for _, subject := range []string{events.QuerySubject("c2.eu"), events.QuerySubjects, "sw.query.>"} {
		spoke.mustDenySubscribe(subject)
	}
}

// TestOnlyTheScorerAsksCollectors: a question has a cluster's collector call
// what is in reach of it.
func TestOnlyTheScorerAsksCollectors(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	clients := []*client{h.spoke(t, "c1"), h.outsider(t, "thanos"), h.collector(t, "energy")}
	for _, name := range []string{access.Operator, access.Inquiry, access.PlacementWriter, access.HubBridge} {
		clients = append(clients, h.dial(t, name, name))
	}
	for _, c := range clients {
		c.mustDenyPublish(events.QuerySubject("c2.eu"))
	}
}
