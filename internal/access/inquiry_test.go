package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

// TestInquiryReadsAndWritesNothing: who answers questions has no right to
// say anything else, and no consumer that could deliver for it.
func TestInquiryReadsAndWritesNothing(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	operator, c := h.dial(t, access.Operator, access.Operator), h.dial(t, access.Inquiry, access.Inquiry)
	operator.store(events.MetricSubject("c1", "prom"))
	for stream, subject := range subjectsByStream(access.Inquiry) {
		c.mustDenyPublish(subject)
		c.mustDenyPublish("$JS.API.CONSUMER.CREATE." + stream + ".x")
		c.mustDenyPublish("$JS.API.CONSUMER.DURABLE.CREATE." + stream + ".x")
		c.mustDenyPublish("$JS.API.STREAM.PURGE." + stream)
	}
	for _, subject := range append(stateSubjects(), "_INBOX_scorer.x", "sw.ask.replay") {
		c.mustDenyPublish(subject)
	}
	for _, subject := range []string{"sw.>", "sw.decision.>", "_INBOX.>"} {
		c.mustDenySubscribe(subject)
	}
	if c.last(events.StreamMetrics, events.MetricSubject("c1", "prom")) == "" {
		t.Error("it cannot read what it is to explain")
	}
}

// TestAnAnswerIsNotStoredAsState: a question whose reply is a subject that
// somebody believes. A responder that answers it all the same is refused by
// the server.
func TestAnAnswerIsNotStoredAsState(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	operator, c := h.dial(t, access.Operator, access.Operator), h.dial(t, access.Inquiry, access.Inquiry)
	asked := make(chan *nats.Msg, 64)
	if _, err := c.ChanSubscribe(events.AskReplay, asked); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	before := messages(t, operator.js)
	for _, reply := range stateSubjects() {
		if err := operator.PublishRequest(events.AskReplay, reply, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	for range stateSubjects() {
		select {
		case m := <-asked:
			if err := m.Respond([]byte("{}")); err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a question did not arrive")
		}
	}
	answer := make(chan error, 1)
	go func() {
		_, err := operator.RequestWithContext(within(t), events.AskReplay, []byte("{}"))
		answer <- err
	}()
	if err := (<-asked).Respond([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("an honest question has no answer: %v", err)
	}
	for stream, n := range messages(t, operator.js) {
		if n != before[stream] {
			t.Errorf("%s holds %d messages more", stream, n-before[stream])
		}
	}
}

// TestOnlyTheOperatorAsks: nobody else learns what decisions rest on, nor
// answers in the service's place.
func TestOnlyTheOperatorAsks(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	clients := []*client{h.spoke(t, "c1"), h.outsider(t, "thanos")}
	for _, name := range []string{access.Scorer, access.PlacementWriter, access.HubBridge} {
		clients = append(clients, h.dial(t, name, name))
	}
	for _, c := range clients {
		c.mustDenyPublish(events.AskExplain)
		c.mustDenySubscribe(events.AskSubjects)
	}
	operator := h.dial(t, access.Operator, access.Operator)
	if _, err := operator.RequestWithContext(within(t), events.AskExplain, nil); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("nobody is there, and the operator gets %v", err)
	}
}
