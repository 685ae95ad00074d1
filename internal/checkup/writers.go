package checkup

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// History is the end of a stream.
type History struct {
	// Events are in the order of the stream, but for those that cannot be
	// read.
	Events []events.Received
	// Span is how far back they reach.
	Span time.Duration
	// Cut: it should have reached further back, but there are too many events.
	Cut bool
}

// on has a finding say how little was looked at.
func (h History) on(f Finding) Finding {
	if h.Cut {
		f.Detail += fmt.Sprintf(" (looked at the last %s alone: so many events come; two who write less often than that are not found)", span(h.Span))
	}
	return f
}

// minReturns is how often the writer of a subject must be an earlier one
// again, for that to be two writers: to hand over, and even to hand back, is
// no mistake.
const minReturns = 2

// contested returns the subjects that several write in turns, sorted, and
// how many there are in all. writer names who wrote an event; ok is false
// for one that does not count.
func contested(history []events.Received, writer func(events.Received) (name string, ok bool)) (bad []string, total int) {
	type line struct {
		last    string
		earlier map[string]bool
		returns int
	}
	lines := map[string]*line{}
	for _, r := range history {
		name, ok := writer(r)
		if !ok {
			continue
		}
		l := lines[r.Message.Subject]
		if l == nil {
			l = &line{last: name, earlier: map[string]bool{}}
			lines[r.Message.Subject] = l
		}
		if name != l.last && l.earlier[name] {
			l.returns++
		}
		l.last, l.earlier[name] = name, true
	}
	for _, subject := range slices.Sorted(maps.Keys(lines)) {
		if lines[subject].returns >= minReturns {
			bad = append(bad, subject)
		}
	}
	return bad, len(lines)
}

// checkPublishers finds sources that two collectors publish: each store of
// events has an epoch of its own, and an epoch once left does not come back.
func checkPublishers(history History) Finding {
	bad, total := contested(history.Events, func(r events.Received) (string, bool) {
		epoch, _ := r.Event.Extensions()[events.ExtEpoch].(string)
		return epoch, r.Subject.Family == events.FamilyMetric
	})
	return history.on(verdictOn("one publisher a source", total, bad,
		"written by two publishers in turns, each of which replaces what the other said: stop one, or give it a source of its own (a collector must not be copied with its outbox)"))
}

// writerOCM is how an observed decision names OCM.
const writerOCM = "ocm"

// ocmWrites is for how long OCM may still be the writer of a Placement that
// is Spokewire's: it is taken over within a moment.
const ocmWrites = 10 * time.Second

// checkSchedulers finds Placements that two decide: in the log, or on the
// hub, where OCM's controller does not heed that a Placement is not its.
func checkSchedulers(s *inventory.State, history History, now time.Time) Finding {
	bad, decided := contested(history.Events, func(r events.Received) (string, bool) {
		d, ok := r.Payload.(*schemas.PlacementDecision)
		if !ok {
			return "", false
		}
		return d.Scheduler, true
	})
	direct := map[string]bool{}
	for _, e := range inventory.Entries[*schemas.Placement](s, events.FamilyHub) {
		direct[e.Value.Namespace+"/"+e.Value.Name] = e.Value.Direct
	}
	for _, e := range inventory.Entries[*schemas.ObservedDecision](s, events.FamilyHub) {
		name := e.Value.Placement.Namespace + "/" + e.Value.Placement.Name
		if direct[name] && e.Value.Writer == writerOCM && now.Sub(e.Message.ReceivedAt) > ocmWrites {
			bad = append(bad, name)
		}
	}
	return history.on(verdictOn("one scheduler a Placement", max(decided, len(direct)), bad,
		"decided by Spokewire and by OCM: is the annotation cluster.open-cluster-management.io/experimental-scheduling-disable set and left alone, and is OCM's placement controller new enough to heed it"))
}
