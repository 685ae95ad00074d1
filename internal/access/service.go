package access

import (
	"maps"
	"slices"

	"github.com/spokewire/spokewire/pkg/events"
)

// Names of the hub services that have a user.
const (
	HubBridge       = "hub-bridge"
	Scorer          = "scorer"
	PlacementWriter = "placement-writer"
	Inquiry         = "inquiry"
)

// rights are what a service does on the bus.
type rights struct {
	// publishes are subjects, beside the service's own dead letters.
	publishes []string
	// reads are streams that it watches or works on.
	reads []string
	// looksUp are further streams of which it reads single messages, beside
	// the dead letters: a publish may have to ask what is there.
	looksUp []string
	// answers are requests. Who answers them reads single messages of
	// further streams, publishes answers, to the inboxes of those who may ask,
	// and nothing else; it has no consumer, which could deliver anywhere.
	answers []string
}

// services is the one place that says which service may do what.
var services = map[string]rights{
	HubBridge: {
		publishes: []string{"sw.hub.*.*.*", "sw.receipt.*.*.*", "sw.decision.placement.*.*"},
		reads:     []string{events.StreamHub, events.StreamScores, events.StreamConfig, events.StreamDecisions, events.StreamStatus},
		looksUp:   []string{events.StreamReceipts},
	},
	Scorer: {
		publishes: []string{"sw.score.*.*", "sw.status.*.*.*", events.QuerySubjects},
		reads:     []string{events.StreamMetrics, events.StreamHub, events.StreamConfig, events.StreamScores, events.StreamStatus},
	},
	PlacementWriter: {
		publishes: []string{"sw.decision.placement.*.*", "sw.decision.shadow.*.*"},
		reads:     []string{events.StreamHub, events.StreamScores, events.StreamConfig, events.StreamDecisions},
	},
	Inquiry: {
		looksUp: []string{events.StreamMetrics, events.StreamHub, events.StreamScores, events.StreamConfig, events.StreamDecisions},
		answers: []string{events.AskSubjects},
	},
}

// Services returns the names of the hub services that this package knows,
// sorted.
func Services() []string { return slices.Sorted(maps.Keys(services)) }

func serviceUser(name string) User {
	r := services[name]
	if len(r.answers) > 0 {
		return responderUser(name, r)
	}
	publish := slices.Clone(r.publishes)
	publish = append(publish, "sw."+events.FamilyDead+"."+events.EncodeToken(name)+".*")
	// A compare-and-set that was answered by silence is settled by asking
	// which stream has the subject, and its leader for the last event.
	publish = append(publish, apiPrefix+"STREAM.NAMES")
	for _, stream := range append([]string{events.StreamDead}, r.looksUp...) {
		publish = append(publish, lookAPI(stream)...)
	}
	for _, stream := range r.reads {
		publish = append(publish, lookAPI(stream)...)
		publish = append(publish, consumeAPI(stream)...)
	}
	return User{Name: name, Account: AccountHub, Publish: publish, Subscribe: []string{InboxPrefix(name) + ".>"}}
}

// responderUser answers what the operator asks, whose inboxes begin with
// _INBOX. What it is asked to answer on any other subject the server refuses.
func responderUser(name string, r rights) User {
	publish := []string{InboxPrefix(Operator) + ".>"}
	for _, stream := range r.looksUp {
		publish = append(publish, lookAPI(stream)...)
	}
	subscribe := append([]string{InboxPrefix(name) + ".>", microSubjects}, r.answers...)
	return User{Name: name, Account: AccountHub, Publish: publish, Subscribe: subscribe}
}

// microSubjects are what NATS asks of every micro service: who are you, how
// are you.
const microSubjects = "$SRV.>"

const apiPrefix = "$JS.API."

// lookAPI is what it takes to learn a stream's settings and to read single
// messages of it.
func lookAPI(stream string) []string {
	list := []string{apiPrefix + "STREAM.INFO." + stream, apiPrefix + "STREAM.MSG.GET." + stream}
	if !ingest(stream) {
		list = append(list, apiPrefix+"DIRECT.GET."+stream, apiPrefix+"DIRECT.GET."+stream+".>")
	}
	return list
}

// consumeAPI is what it takes to read a stream by a pull consumer, ordered
// or durable. Acknowledgements have two forms.
func consumeAPI(stream string) []string {
	return []string{
		apiPrefix + "CONSUMER.CREATE." + stream + ".>",
		apiPrefix + "CONSUMER.INFO." + stream + ".*",
		apiPrefix + "CONSUMER.MSG.NEXT." + stream + ".*",
		apiPrefix + "CONSUMER.DELETE." + stream + ".*",
		"$JS.ACK." + stream + ".>",
		"$JS.ACK.*.*." + stream + ".>",
	}
}

func ingest(stream string) bool {
	return slices.ContainsFunc(events.Streams(), func(s events.Stream) bool { return s.Name == stream && s.Ingest })
}
