package scores

import (
	"sync"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Kept is what the bridge keeps of a score event: little, for there is one
// for each cluster and scorer.
type Kept struct {
	once    sync.Once
	message *events.Message
	read    Read
	err     error
}

// Read is a decoded score event.
type Read struct {
	bridge.Score
	ID     string
	Origin *schemas.Origin
	Trace  string // traceparent
}

// Keep keeps m, to be decoded when it is needed.
func Keep(m events.Message) *Kept { return &Kept{message: &m} }

// Read decodes the event. Every error is a *events.BadInput.
func (k *Kept) Read() (Read, error) {
	k.once.Do(k.decode)
	return k.read, k.err
}

func (k *Kept) decode() {
	received, err := events.Read(*k.message)
	if err != nil {
		k.err = err
		return
	}
	k.read.ID = received.Event.ID()
	k.read.Trace, _ = received.Event.Extensions()[events.ExtTraceParent].(string)
	k.read.Gone = true // unless it is a score
	if s, ok := received.Payload.(*schemas.Score); ok {
		k.read.Score, k.read.Origin = bridge.ScoreOf(s, k.message.ReceivedAt), s.Origin
	}
	k.message = nil
}

// event carries the trace that the score belongs to.
func (r Read) event() event.Event {
	e := event.New()
	if r.Trace != "" {
		e.SetExtension(events.ExtTraceParent, r.Trace)
	}
	return e
}
