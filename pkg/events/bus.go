package events

import (
	"context"
	"errors"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
)

// Errors that every bus returns, possibly wrapped.
var (
	// ErrConflict: the subject's last event is not the one that ExpectLast
	// named. Read the subject again and decide anew.
	ErrConflict = errors.New("the subject has moved on")
	// ErrNotFound: the subject, or the stream, has no event.
	ErrNotFound = errors.New("no such event")
	// ErrInvalidOption: an option or a configuration makes no sense.
	ErrInvalidOption = errors.New("invalid option")
	// ErrTooLarge: the event is larger than the server takes.
	ErrTooLarge = errors.New("the event is larger than the server takes")
	// ErrClosed: the bus was closed.
	ErrClosed = errors.New("the bus is closed")
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
}

// Ack says where an event was stored.
type Ack struct {
	Stream   string
	Sequence uint64
}

// Publisher stores events.
type Publisher interface {
	// Publish returns once the bus has stored e. It retries through
	// reconnects until ctx ends, without storing e twice. It returns
	// ErrConflict where ExpectLast does not hold, ErrTooLarge, or a
	// transport's own error. It validates e.
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
	// is stored from there on, without a gap. After a reconnect the state is
	// read again in full: fn gets Behind, then Stored for what is new or
	// differs, Gone for subjects that are no longer there, then Synced.
	// Watch returns fn's error, or ctx's, or ErrInvalidOption; it retries
	// everything else.
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
	// Message.ReceivedAt is the server's time then, see [Clock].
	Synced
	// Behind: the connection was lost, the state may be old until Synced.
	Behind
)

// Update is one step of a Watch.
type Update struct {
	Kind    UpdateKind
	Message Message
}

// Worker hands out work that is done once.
type Worker interface {
	// Work calls h with each event of a durable consumer, at most
	// w.MaxInFlight at a time, until ctx ends. What h returns is told to the
	// bus as DispositionOf says. Events of one subject are not handled at the same
	// time.
	Work(ctx context.Context, w Work, h Handler) error
}

// Work says which durable consumer to run.
type Work struct {
	Stream   string
	Durable  string // the consumer's name: the same name goes on where it stopped
	Subjects []string
	// MaxInFlight bounds the events that are out at a time. Default 64.
	MaxInFlight int
	// AckWait is after how long an unanswered event is handed out again.
	// Default 30 s.
	AckWait time.Duration
	// MaxDeliveries bounds the tries of one event. Default 10.
	MaxDeliveries int
}

// PublishOption changes one Publish.
type PublishOption func(*PublishOptions)

// PublishOptions is what the options add up to; it is for implementations of
// Publisher.
type PublishOptions struct {
	// ExpectLast is the sequence that the subject's last event must have, 0
	// for a subject without events; nil means any.
	ExpectLast *uint64
	// MessageID is what the bus dedupes by. Default: the event's id.
	MessageID string
	// Tombstone, if not 0, makes the event replace all others of its subject
	// and expire after that long.
	Tombstone time.Duration
}

// ExpectLast makes Publish a compare-and-set: it fails with ErrConflict
// unless the subject's last event has this sequence (0: has none).
func ExpectLast(sequence uint64) PublishOption {
	return func(o *PublishOptions) { o.ExpectLast = &sequence }
}

// WithMessageID sets what the bus dedupes by. It must be unguessable or
// unique: JetStream dedupes across the whole stream.
func WithMessageID(id string) PublishOption {
	return func(o *PublishOptions) { o.MessageID = id }
}

// TombstoneTTL is how long a tombstone is kept.
const TombstoneTTL = 7 * 24 * time.Hour

// Tombstone marks the event as the end of its subject: it replaces all that
// came before, and goes by itself after TombstoneTTL.
func Tombstone() PublishOption {
	return func(o *PublishOptions) { o.Tombstone = TombstoneTTL }
}

// NewPublishOptions applies opts, with the event's id as the default
// message id.
func NewPublishOptions(e event.Event, opts ...PublishOption) PublishOptions {
	o := PublishOptions{MessageID: e.ID()}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
