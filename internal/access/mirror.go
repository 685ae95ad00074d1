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

// Mirrors returns the mirrors that READ holds. Its admin creates them, once
// the streams are there.
func Mirrors() []events.Mirror {
	var list []events.Mirror
	for _, s := range events.Streams() {
		if slices.Contains(mirrored(), s.Name) {
			list = append(list, events.Mirror{Stream: s, APIPrefix: hubAPI, DeliverPrefix: mirrorDeliver})
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

// readerCalls is all that a reader of a mirror may ask: what package
// jetstream, an ordered consumer of nats.go and `nats sub --stream` need. A
// durable consumer would be everybody's, so acknowledgements are not among
// it.
func readerCalls(stream string) []call {
	return []call{
		{subject: "STREAM.INFO." + stream},
		{subject: "STREAM.MSG.GET." + stream},
		{subject: "CONSUMER.CREATE." + stream + ".>"},
		{subject: "CONSUMER.MSG.NEXT." + stream + ".*", stream: true},
		{subject: "CONSUMER.DELETE." + stream + ".*"},
		{subject: "DIRECT.GET." + stream, stream: true},
		{subject: "DIRECT.GET." + stream + ".>"},
	}
}
