package fold

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// Violation is one way in which an invariant does not hold. The numbers are
// those of "What holds" in docs/architecture.md.
type Violation struct {
	Invariant int
	Text      string
}

func (v Violation) String() string { return fmt.Sprintf("invariant %d: %s", v.Invariant, v.Text) }

func violates(invariant int, format string, args ...any) Violation {
	return Violation{invariant, fmt.Sprintf(format, args...)}
}

// Evidence is all that the streams still hold, in order, by stream.
type Evidence map[string][]events.Message

// Gather reads streams, from a time on or, if that is zero, from their
// beginning, to what they hold now.
func Gather(ctx context.Context, w events.Watcher, since time.Time, streams ...string) (Evidence, error) {
	if since.IsZero() {
		since = time.Unix(1, 0)
	}
	found := Evidence{}
	for _, stream := range streams {
		done := errors.New("read")
		watch := events.Watch{Stream: stream, Since: since}
		err := w.Watch(ctx, watch, func(u events.Update) error {
			switch u.Kind {
			case events.Stored:
				found[stream] = append(found[stream], u.Message)
			case events.Behind: // it begins anew
				found[stream] = nil
			case events.Synced:
				return done
			}
			return nil
		})
		if !errors.Is(err, done) {
			return nil, fmt.Errorf("read %s: %w", stream, err)
		}
	}
	return found, nil
}

// Since leaves out what was received before t.
func (e Evidence) Since(t time.Time) Evidence {
	later := Evidence{}
	for stream, messages := range e {
		later[stream] = slices.DeleteFunc(slices.Clone(messages), func(m events.Message) bool { return m.ReceivedAt.Before(t) })
	}
	return later
}

// bySubject splits a stream, keeping the order.
func (e Evidence) bySubject(stream string) map[string][]events.Message {
	split := map[string][]events.Message{}
	for _, m := range e[stream] {
		split[m.Subject] = append(split[m.Subject], m)
	}
	return split
}

// full reports whether the stream keeps no more events of a subject than
// these, so that older ones may be gone.
func full(stream string, messages []events.Message) bool {
	for _, s := range events.Streams() {
		if s.Name == stream {
			return s.PerSubject > 0 && int64(len(messages)) >= s.PerSubject
		}
	}
	return false
}

// Union adds what other holds and e does not: what was read before, and has
// made way for newer events since.
func (e Evidence) Union(other Evidence) Evidence {
	all := Evidence{}
	for _, part := range []Evidence{e, other} {
		for stream, messages := range part {
			all[stream] = append(all[stream], messages...)
		}
	}
	for stream, messages := range all {
		slices.SortStableFunc(messages, func(a, b events.Message) int { return cmp.Compare(a.Sequence, b.Sequence) })
		all[stream] = slices.CompactFunc(messages, func(a, b events.Message) bool {
			return a.Sequence == b.Sequence && a.ReceivedAt.Equal(b.ReceivedAt)
		})
	}
	return all
}
