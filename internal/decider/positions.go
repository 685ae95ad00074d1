package decider

import (
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// Positions are how far each stream was read: no event up to there will
// come any more.
type Positions map[string]uint64

// take counts what is stored, and starts over with each reading: a restored
// store can be less far than it was.
func (p Positions) take(u events.Update) {
	switch m := u.Message; u.Kind {
	case events.Stored:
		p[m.Stream] = max(p[m.Stream], m.Sequence)
	case events.Synced:
		p[m.Stream] = m.Sequence
	}
}

// Covers reports whether the stream was read up to sequence.
func (p Positions) Covers(stream string, sequence uint64) bool { return p[stream] >= sequence }

// MaxWait bounds how long a decision waits for its replica to see what the
// event before it had seen: that may be gone with a restored store.
const MaxWait = 10 * time.Second

// Wait returns whether to wait still, and until when at most, where covered
// says that nothing is left to wait for.
func (t *Turn) Wait(covered bool, now time.Time) (until time.Time, wait bool) {
	if covered {
		t.since = time.Time{}
		return time.Time{}, false
	}
	if t.since.IsZero() || t.since.After(now) {
		t.since = now
	}
	until = t.since.Add(MaxWait)
	return until, now.Before(until)
}
