package fold

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Bounds of messages, in bytes.
const (
	MaxMessage  = 2 << 20
	MaxDecision = 512 << 10
)

// Sizes checks invariant 7 on the bus: no message is larger than stated, and
// no subject has more events than its stream declares to keep.
func Sizes(e Evidence) []Violation {
	keeps := map[string]int64{}
	for _, s := range events.Streams() {
		keeps[s.Name] = s.PerSubject
	}
	var found []Violation
	for _, stream := range slices.Sorted(maps.Keys(e)) {
		limit := MaxMessage
		if stream == events.StreamDecisions {
			limit = MaxDecision
		}
		for _, m := range e[stream] {
			if size := sizeOf(m); size > limit {
				found = append(found, violates(7, "%s %d of %s has %d bytes, at most %d are allowed", stream, m.Sequence, m.Subject, size, limit))
			}
		}
		for subject, messages := range e.bySubject(stream) {
			if keep := keeps[stream]; keep > 0 && int64(len(messages)) > keep {
				found = append(found, violates(7, "%s holds %d events of %s, at most %d are kept", stream, len(messages), subject, keep))
			}
		}
	}
	return found
}

func sizeOf(m events.Message) int {
	size := len(m.Data)
	for key, values := range m.Header {
		for _, v := range values {
			size += len(key) + len(v)
		}
	}
	return size
}

// Forged checks invariant 6: of what a spoke tried to say under subjects
// that are not its own, by the ids of those events, nothing is in the log.
func Forged(e Evidence, ids map[string]bool) []Violation {
	var found []Violation
	for _, stream := range slices.Sorted(maps.Keys(e)) {
		for _, m := range e[stream] {
			if id := idOf(m); ids[id] {
				found = append(found, violates(6, "event %s, which no spoke may publish, stands in %s as %s", id, stream, m.Subject))
			}
		}
	}
	return found
}

// Bad is an event that cannot be read, and the field that is wrong with it.
type Bad struct{ Subject, ID, Field string }

// Buried checks invariant 8: every bad event that is still in the log is
// kept as a dead letter that names its field, and no other event is.
func Buried(e Evidence, bad []Bad) []Violation {
	fields := map[string]string{}
	for _, b := range bad {
		fields[b.ID] = b.Field
	}
	var found []Violation
	letters := map[string]*schemas.DeadLetter{}
	for _, m := range e[events.StreamDead] {
		payload, err := payloadOf(m)
		if _, isDrop := payload.(*schemas.DeadDropped); isDrop {
			continue
		}
		letter, isLetter := payload.(*schemas.DeadLetter)
		if err != nil || !isLetter {
			found = append(found, violates(8, "%s %d is no dead letter: %v", m.Subject, m.Sequence, err))
			continue
		}
		letters[letter.Subject+" "+strconv.FormatUint(letter.Sequence, 10)] = letter
		if _, isBad := fields[letter.Headers["ce-id"]]; !isBad {
			found = append(found, violates(8, "%s buried a sound event, %s %d: %s", letter.Service, letter.Subject, letter.Sequence, letter.Message))
		}
	}
	for stream, messages := range e {
		for _, m := range messages {
			field, isBad := fields[m.Header.Get("ce-id")]
			if !isBad || stream == events.StreamDead {
				continue
			}
			letter := letters[m.Subject+" "+strconv.FormatUint(m.Sequence, 10)]
			switch {
			case letter == nil:
				found = append(found, violates(8, "%s %d, received at %s, cannot be read, but is not among the dead letters", m.Subject, m.Sequence, m.ReceivedAt.Format(time.RFC3339Nano)))
			case letter.Field != field:
				found = append(found, violates(8, "%s %d: the dead letter names field %q, want %q", m.Subject, m.Sequence, letter.Field, field))
			}
		}
	}
	return found
}

// Counted checks, part of invariant 8, that a service which has run since a
// time has counted as many refused messages as the log has letters of it, or
// more: some are met more than once.
func Counted(e Evidence, service string, since time.Time, counted int) []Violation {
	letters := 0
	for _, m := range e[events.StreamDead] {
		if payload, err := payloadOf(m); err == nil {
			if letter, isLetter := payload.(*schemas.DeadLetter); isLetter && letter.Service == service && !letter.ReceivedAt.Before(since) {
				letters++
			}
		}
	}
	if counted < letters {
		return []Violation{violates(8, "%s has counted %d refused messages, but %d are among the dead letters", service, counted, letters)}
	}
	return nil
}
