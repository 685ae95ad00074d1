package events

import (
	"context"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
)

// Header holds an event's transport headers. Keys are case-sensitive, as
// NATS has them.
type Header map[string][]string

// Get returns the first value of key, or "".
func (h Header) Get(key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Set replaces key's values by value.
func (h Header) Set(key, value string) { h[key] = []string{value} }

// Message is one stored event as the bus has it: not yet decoded, so that
// one that cannot be decoded can be kept all the same.
type Message struct {
	Stream   string
	Subject  string
	Sequence uint64 // within the stream, from 1
	// ReceivedAt is when the bus stored the message, in server time.
	ReceivedAt time.Time
	Header     Header
	Data       []byte
	// Deliveries counts how often a Worker was handed the message, from 1.
	// It is 0 for messages from a Watcher or a Getter.
	Deliveries int
	// MaxDeliveries is Work.MaxDeliveries: a failure of this delivery, or of
	// a later one, is the last.
	MaxDeliveries int
}

// LastDelivery reports whether the message will not be handed out again,
// whatever becomes of it now.
func (m Message) LastDelivery() bool {
	return m.MaxDeliveries > 0 && m.Deliveries >= m.MaxDeliveries
}

// Ack says where an event was stored.
type Ack struct {
	Stream   string
	Sequence uint64
}

// Publisher stores events.
type Publisher interface {
	// Publish returns once the bus has stored e. It retries through
	// reconnects until ctx ends, without storing e twice within DedupeWindow:
	// an event that stands there already, by its id, counts as stored. It
	// returns ErrConflict where ExpectLast does not hold, ErrTooLarge,
	// ErrFull, ErrDenied, ErrClosed, ErrNotFound where no stream takes the
	// subject, ErrInvalidOption for a tombstone where the stream takes none,
	// or a transport's own error. What is no event or no subject is refused
	// with ErrInvalidEvent or ErrBadSubject.
	Publish(ctx context.Context, subject string, e event.Event, opts ...PublishOption) (Ack, error)
}

// Getter reads single events.
type Getter interface {
	// Last returns the last event of subject, read from the stream's leader,
	// or ErrNotFound.
	Last(ctx context.Context, stream, subject string) (Message, error)
}

// Watcher reads the current state of many subjects and follows it.
type Watcher interface {
	// Watch calls fn, from one goroutine, with the last event of every
	// subject that matches; then once with Synced; then with each event that
	// is stored from there on, without a gap unless w says Newest. After a
	// reconnect the state is read again in full: fn gets Behind, then Stored
	// for what is new or differs, Gone for subjects that are no longer there,
	// then Synced. Watch returns fn's error, or ctx's, or ErrInvalidOption;
	// it retries everything else.
	Watch(ctx context.Context, w Watch, fn func(Update) error) error
}

// Watch says what to watch.
type Watch struct {
	Stream string
	// Subjects are filters that do not overlap. Empty means all.
	Subjects []string
	// Since, if set, starts with every event stored from that time on
	// instead of the last event of each subject. Gone is then never sent.
	Since time.Time
	// Newest lets a reader of state that falls far behind skip: it gets
	// Behind, and the state is read again as after a reconnect. So it is
	// late by one reading of the state at most, however much is published,
	// but does not see every event. It is without effect together with Since.
	Newest bool
}

// UpdateKind says what an Update is.
type UpdateKind int

// Kinds of updates.
const (
	// Stored: Message is the new last event of its subject.
	Stored UpdateKind = iota
	// Gone: the subject named by Message.Subject has no event any more.
	Gone
	// Synced: all that was stored when the reading began has been delivered.
	// Message.ReceivedAt is the server's time then, see [Clock], and
	// Message.Sequence is a position of the stream, other subjects' events
	// included, up to which the state is complete: what it does not have of
	// before is gone for good.
	Synced
	// Behind: the connection was lost, or a reader of the newest skips; the
	// state may be old until Synced.
	// Message.Stream is set.
	Behind
)

// Update is one step of a Watch.
type Update struct {
	Kind    UpdateKind
	Message Message

	outcome *outcome // of reading it, nil where that was not tried
}

type outcome struct {
	received Received
	err      error
}

// Read reads the Message, unless a [Readable] has done so already.
func (u Update) Read() (Received, error) {
	if u.outcome != nil {
		return u.outcome.received, u.outcome.err
	}
	return Read(u.Message)
}

// Refused is why a [Readable] could not read the Message; nil where it could,
// or did not try.
func (u Update) Refused() error {
	if u.outcome == nil {
		return nil
	}
	return u.outcome.err
}

// Worker hands out work that is done once.
type Worker interface {
	// Work calls h with each event of a durable consumer, at most
	// w.MaxInFlight at a time, until ctx ends. What h returns is told to the
	// bus as Settle says. Events of one subject are not handled at the same
	// time; h's context ends after AckWait.
	Work(ctx context.Context, w Work, h Handler) error
}
