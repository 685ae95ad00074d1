package scores

import (
	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Kept is what the bridge keeps of a score event: little, for there is one
// for each cluster and scorer.
type Kept struct {
	bridge.Score
	ID     string
	Origin *schemas.Origin
	Trace  string // traceparent
}

// Keep takes what is kept of an event that can be read. Of one that cannot,
// which an events.Readable hands to nobody, nothing is.
func Keep(u events.Update) *Kept {
	received, err := u.Read()
	if err != nil {
		return nil
	}
	k := &Kept{ID: received.Event.ID()}
	k.Trace, _ = received.Event.Extensions()[events.ExtTraceParent].(string)
	k.Gone = true // unless it is a score
	if s, ok := received.Payload.(*schemas.Score); ok {
		k.Score, k.Origin = bridge.ScoreOf(s, u.Message.ReceivedAt), s.Origin
	}
	return k
}

// event carries the trace that the score belongs to.
func (k *Kept) event() event.Event {
	e := event.New()
	if k.Trace != "" {
		e.SetExtension(events.ExtTraceParent, k.Trace)
	}
	return e
}
