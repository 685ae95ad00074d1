package events

import (
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
)

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
	// Repeated: an earlier Publish may have stored the event.
	Repeated bool
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

// Repeated says that an earlier Publish of this event, under the same
// message id, ended without an answer: a duplicate is then this very event.
// Without it a publisher that may not read the stream sends it once more
// under a fresh id.
func Repeated() PublishOption {
	return func(o *PublishOptions) { o.Repeated = true }
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
