package events_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func readLetter(t *testing.T, m events.Message) *schemas.DeadLetter {
	t.Helper()
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	return r.Payload.(*schemas.DeadLetter)
}

func TestBuryKeepsOnce(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	m := messageOf(t, "sw.metric.c.s", newMetrics(t))
	m.Header["Authorization"] = []string{"Bearer secret"}
	cause := &events.BadInput{Reason: "NotJSON", Field: "data", Err: errors.New("no JSON")}
	for range 3 {
		if err := events.Bury(t.Context(), bus, "scorer", m, cause); err != nil {
			t.Fatal(err)
		}
	}
	if err := events.Bury(t.Context(), bus, "other", m, errors.New("")); err != nil {
		t.Fatal(err)
	}
	kept := bus.Messages(events.StreamDead)
	if len(kept) != 2 {
		t.Fatalf("%d letters, want one for each service", len(kept))
	}
	letter := readLetter(t, kept[0])
	if letter.Reason != "NotJSON" || letter.Field != "data" || letter.Message != "no JSON" || letter.Sequence != 7 ||
		letter.Stream != events.StreamMetrics || letter.Subject != "sw.metric.c.s" || string(letter.Body) != string(m.Data) {
		t.Errorf("letter = %+v", letter)
	}
	if letter.Headers["ce-specversion"] != "1.0" || letter.Headers["Authorization"] != "" {
		t.Errorf("headers = %v", letter.Headers)
	}
	if other := readLetter(t, kept[1]); other.Reason != "Failed" || other.Message == "" {
		t.Errorf("without a reason: %+v", other)
	}
}

// TestBuryKeepsWhatHasAnOldSequence: a stream that lost its end gives the same
// sequences out again.
func TestBuryKeepsWhatHasAnOldSequence(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	lost := messageOf(t, "sw.metric.c.s", newMetrics(t))
	other := lost
	other.ReceivedAt = lost.ReceivedAt.Add(time.Minute)
	for _, m := range []events.Message{lost, lost, other, other} {
		if err := events.Bury(t.Context(), bus, "scorer", m, errors.New("odd")); err != nil {
			t.Fatal(err)
		}
	}
	kept := bus.Messages(events.StreamDead)
	if len(kept) != 2 {
		t.Fatalf("%d letters, want one for each message", len(kept))
	}
	for i, m := range []events.Message{lost, other} {
		if letter := readLetter(t, kept[i]); !letter.ReceivedAt.Equal(m.ReceivedAt) || kept[i].Subject != events.DeadSubject("scorer", m.Stream, m.Sequence) {
			t.Errorf("letter %d is of a message of %v, want %v", i, letter.ReceivedAt, m.ReceivedAt)
		}
	}
}

// TestBuryIsBounded: whatever the message holds, its letter can be stored.
func TestBuryIsBounded(t *testing.T) {
	t.Parallel()
	bus := eventstest.NewBus()
	m := events.Message{Stream: events.StreamMetrics, Subject: "sw.metric.c.s", Sequence: 1, ReceivedAt: someTime,
		Header: events.Header{"long": {strings.Repeat("x", 1<<20)}}, Data: []byte(strings.Repeat("y", 1<<20))}
	for i := range 10_000 {
		m.Header[fmt.Sprintf("h%05d", i)] = []string{"\xff", "2"}
	}
	if err := events.Bury(t.Context(), bus, "scorer", m, errors.New(strings.Repeat("z", 1<<20))); err != nil {
		t.Fatal(err)
	}
	stored := bus.Messages(events.StreamDead)[0]
	letter := readLetter(t, stored)
	if len(stored.Data) > 256<<10 || len(letter.Body) != schemas.MaxDeadBody || letter.Size != 1<<20 || len(letter.SHA256) != 64 {
		t.Errorf("the letter has %d bytes, body %d of %d, digest %q", len(stored.Data), len(letter.Body), letter.Size, letter.SHA256)
	}
}
