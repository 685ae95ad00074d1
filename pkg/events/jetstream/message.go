package jetstream

import (
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/pkg/events"
)

// ackPrefix begins the reply subject of every message that comes from a
// stream, and of no other: unlike headers, publishers cannot forge it.
const ackPrefix = "$JS.ACK."

func isStored(m *nats.Msg) bool { return strings.HasPrefix(m.Reply, ackPrefix) }

// delivery is a stored message as a consumer delivers it.
type delivery struct {
	message events.Message
	ordinal uint64 // of the delivery within its consumer, from 1
	pending uint64 // how many follow at present
	reply   string // where to acknowledge it
}

func deliveryOf(m *nats.Msg) (delivery, error) {
	meta, err := m.Metadata()
	if err != nil {
		return delivery{}, err
	}
	return delivery{
		message: events.Message{
			Stream: meta.Stream, Subject: m.Subject, Sequence: meta.Sequence.Stream, ReceivedAt: meta.Timestamp,
			Header: events.Header(m.Header), Data: m.Data,
			Deliveries: int(meta.NumDelivered),
		},
		ordinal: meta.Sequence.Consumer, pending: meta.NumPending, reply: m.Reply,
	}, nil
}
