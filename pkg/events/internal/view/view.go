// Package view remembers what a watch has handed on, so that reading the
// state again yields only what changed.
package view

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/events"
)

// View holds the position of the last event of every subject. It is for one
// goroutine.
type View struct {
	history  bool
	pass     uint32
	subjects map[string]position
}

type position struct {
	sequence uint64
	at       int64 // when it was stored, Unix nanoseconds
	pass     uint32
}

// New returns an empty View of w.
func New(w events.Watch) *View {
	return &View{history: !w.Since.IsZero(), subjects: map[string]position{}}
}

// Begin starts to read the state, for the first time or again.
func (v *View) Begin() { v.pass++ }

// Take notes m and reports whether it is to be handed on. Sequences alone
// do not tell: a server that lost the end of its log gives them to new
// events again.
func (v *View) Take(m events.Message) bool {
	next := position{m.Sequence, m.ReceivedAt.UnixNano(), v.pass}
	known, ok := v.subjects[m.Subject]
	if ok && v.history && next.sequence <= known.sequence && next.at <= known.at {
		return false
	}
	v.subjects[m.Subject] = next
	return !ok || known.sequence != next.sequence || known.at != next.at
}

// Len is how many subjects there are.
func (v *View) Len() int { return len(v.subjects) }

// Gone forgets the subjects that were not met since Begin, and returns them
// sorted. It returns none in a watch of history.
func (v *View) Gone() []string {
	if v.history {
		return nil
	}
	var gone []string
	for subject, p := range v.subjects {
		if p.pass != v.pass {
			gone = append(gone, subject)
			delete(v.subjects, subject)
		}
	}
	slices.Sort(gone)
	return gone
}
