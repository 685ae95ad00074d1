// Package inventory works out what people are shown of the bus: clusters,
// scorers, scores and placements, joined from the last events of their
// subjects. It reads no bus and no clock itself.
package inventory

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// State is the last event of every subject that was read. Tombstones leave
// nothing.
type State struct {
	last  map[string]events.Received
	bad   map[string]error
	clock *events.Clock
}

// New returns an empty State.
func New() *State {
	return &State{last: map[string]events.Received{}, bad: map[string]error{}, clock: events.NewClock(nil)}
}

// Take takes one update of a watch.
func (s *State) Take(u events.Update) {
	if !u.Message.ReceivedAt.IsZero() {
		s.clock.Observe(u.Message.ReceivedAt)
	}
	switch u.Kind {
	case events.Gone:
		s.drop(u.Message.Subject)
	case events.Stored:
		s.store(u.Message)
	}
}

func (s *State) drop(subject string) {
	delete(s.last, subject)
	delete(s.bad, subject)
}

func (s *State) store(m events.Message) {
	s.drop(m.Subject)
	r, err := events.Read(m)
	switch {
	case err != nil:
		s.bad[m.Subject] = err
	case schemas.IsDeleted(r.Event.Type()):
	default:
		s.last[m.Subject] = r
	}
}

// Now is the server's time.
func (s *State) Now() time.Time { return s.clock.Now() }

// Unreadable returns an error for each subject whose last event cannot be
// read, sorted by subject.
func (s *State) Unreadable() []error {
	var errs []error
	for _, subject := range slices.Sorted(maps.Keys(s.bad)) {
		errs = append(errs, s.bad[subject])
	}
	return errs
}

// Entry is one event with a payload of a known type.
type Entry[T schemas.Payload] struct {
	events.Received
	Value T
}

// Entries returns the last events of a family with a payload of type T,
// sorted by subject.
func Entries[T schemas.Payload](s *State, family string) []Entry[T] {
	var out []Entry[T]
	for _, subject := range slices.Sorted(maps.Keys(s.last)) {
		r := s.last[subject]
		if value, ok := r.Payload.(T); ok && r.Subject.Family == family {
			out = append(out, Entry[T]{Received: r, Value: value})
		}
	}
	return out
}

// HubObjects counts the objects of the hub that the bridge has told of.
func HubObjects(s *State) int {
	n := 0
	for _, r := range s.last {
		if r.Subject.Family == events.FamilyHub {
			n++
		}
	}
	return n
}
