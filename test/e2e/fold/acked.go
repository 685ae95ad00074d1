package fold

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// Acked is an event that a publisher was told is stored.
type Acked struct {
	Subject, ID string
	At          time.Time
}

// Lost checks invariant 1: that each event stands in the log, and that those
// of a subject stand there in the order of their acknowledgement. An event
// may be missing where mayMiss says so; nil: none may.
func Lost(e Evidence, acked []Acked, mayMiss func(Acked) bool) []Violation {
	want := map[string][]Acked{}
	for _, a := range acked {
		want[a.Subject] = append(want[a.Subject], a)
	}
	stored := map[string][]string{}
	for _, messages := range e {
		for _, m := range messages {
			if _, asked := want[m.Subject]; asked {
				stored[m.Subject] = append(stored[m.Subject], idOf(m))
			}
		}
	}
	var found []Violation
	for _, subject := range slices.Sorted(maps.Keys(want)) {
		found = append(found, missing(subject, stored[subject], want[subject], mayMiss)...)
	}
	return found
}

func missing(subject string, stored []string, want []Acked, mayMiss func(Acked) bool) []Violation {
	var found []Violation
	position := -1
	for n, a := range want {
		at := slices.Index(stored, a.ID)
		switch {
		case at < 0 && (mayMiss == nil || !mayMiss(a)):
			found = append(found, violates(1, "%s: event %s, the %dth of %d acknowledged, is not in the log, which holds %d", subject, a.ID, n+1, len(want), len(stored)))
		case at >= 0 && at < position:
			found = append(found, violates(1, "%s: event %s was acknowledged later than one that stands after it", subject, a.ID))
		case at >= 0:
			position = at
		}
	}
	return found
}

// idOf is the event's id, or "" where there is none.
func idOf(m events.Message) string {
	e, err := events.Decode(m)
	if err != nil {
		return ""
	}
	return e.ID()
}
