package inventory

import (
	"strconv"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Letter is a dead letter with what names it.
type Letter struct {
	// ID is SERVICE/STREAM-SEQUENCE.
	ID string `json:"id"`
	// Dropped is when somebody said that it was dealt with, absent until
	// then.
	Dropped *time.Time `json:"dropped,omitempty"`
	*schemas.DeadLetter
}

// Letters lists the dead letters of SW_DEAD, dropped ones too, sorted by
// subject.
func Letters(s *State) []Letter {
	// The newest drop of each letter, by the letter's subject.
	drops := map[string]events.Message{}
	for _, e := range Entries[*schemas.DeadDropped](s, events.FamilyDead) {
		for _, l := range e.Value.Letters {
			subject := events.DeadSubject(l.Service, l.Stream, l.Sequence)
			if e.Message.Sequence > drops[subject].Sequence {
				drops[subject] = e.Message
			}
		}
	}
	letters := []Letter{}
	for _, e := range Entries[*schemas.DeadLetter](s, events.FamilyDead) {
		l := Letter{ID: LetterID(e.Value), DeadLetter: e.Value}
		if drop := drops[e.Message.Subject]; drop.Sequence > e.Message.Sequence {
			l.Dropped = &drop.ReceivedAt
		}
		letters = append(letters, l)
	}
	return letters
}

// LetterID names a dead letter: SERVICE/STREAM-SEQUENCE.
func LetterID(l *schemas.DeadLetter) string {
	return l.Service + "/" + l.Stream + "-" + strconv.FormatUint(l.Sequence, 10)
}
