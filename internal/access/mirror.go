package access

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/events"
)

// ReadDomain is the JetStream domain under which users of USERS reach READ's
// mirrors.
const ReadDomain = "read"

const (
	readAPI       = "$JS." + ReadDomain + ".API."
	hubAPI        = "$JS.hub.API"
	mirrorDeliver = "mirror.read"
)

// Mirror declares the copy in READ of a stream of HUB.
type Mirror struct {
	// Stream is the declaration of the original, and the mirror's name.
	Stream events.Stream
	// APIPrefix and DeliverPrefix are how READ reaches HUB's JetStream.
	APIPrefix, DeliverPrefix string
}

// Mirrors returns the mirrors that READ holds.
func Mirrors() []Mirror {
	var list []Mirror
	for _, s := range events.Streams() {
		if slices.Contains(mirrored(), s.Name) {
			list = append(list, Mirror{Stream: s, APIPrefix: hubAPI, DeliverPrefix: mirrorDeliver})
		}
	}
	return list
}

func mirrored() []string { return []string{events.StreamDecisions} }

// call is one subject of the JetStream API, without its prefix.
type call struct {
	subject string
	stream  bool // answered by several messages
}

// readerCalls is all that a reader of a mirror may ask: what an ordered
// consumer and `nats sub --stream` need. Its durable consumers would be
// everybody's, so their acknowledgements are not among it.
func readerCalls(stream string) []call {
	return []call{
		{subject: "STREAM.INFO." + stream},
		{subject: "CONSUMER.CREATE." + stream + ".>"},
		{subject: "CONSUMER.MSG.NEXT." + stream + ".*", stream: true},
		{subject: "CONSUMER.DELETE." + stream + ".*"},
		{subject: "DIRECT.GET." + stream, stream: true},
		{subject: "DIRECT.GET." + stream + ".>"},
	}
}
