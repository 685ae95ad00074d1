package decisions

import (
	"sync"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Kept is what the bridge keeps of a decision event. It is decoded when it
// is needed, not when it arrives, for many are overtaken before.
type Kept struct {
	once    sync.Once
	message events.Message
	read    Read
	err     error
}

// Read is a decoded decision event. Exactly one of Decision and Deleted is
// set.
type Read struct {
	ID       string
	Event    event.Event // without its data
	Decision *schemas.PlacementDecision
	Deleted  *schemas.Deleted
}

// Keep keeps the event.
func Keep(u events.Update) *Kept { return &Kept{message: u.Message} }

// KeepOwn keeps a decision that this process has published itself.
func KeepOwn(e event.Event, d *schemas.PlacementDecision, deleted *schemas.Deleted) *Kept {
	k := &Kept{read: Read{ID: e.ID(), Event: e, Decision: d, Deleted: deleted}}
	k.once.Do(func() {})
	return k
}

// Read decodes the event. Every error is a *events.BadInput.
func (k *Kept) Read() (Read, error) {
	k.once.Do(k.decode)
	return k.read, k.err
}

func (k *Kept) decode() {
	received, err := events.Read(k.message)
	if err != nil {
		k.err = err
		return
	}
	k.read = Read{ID: received.Event.ID(), Event: received.Event}
	k.read.Event.DataEncoded = nil
	switch payload := received.Payload.(type) {
	case *schemas.PlacementDecision:
		// What nobody asks for here would hold most of the memory.
		payload.Explanations = nil
		k.read.Decision = payload
	case *schemas.Deleted:
		k.read.Deleted = payload
	default:
		k.err = &events.BadInput{Reason: "WrongType", Field: "type", Err: errWrongType(received.Event.Type())}
		return
	}
	k.message.Data, k.message.Header = nil, nil
}

type errWrongType string

func (e errWrongType) Error() string {
	return "type " + string(e) + " is no placement decision"
}
