package view

import (
	"slices"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

func message(subject string, sequence uint64, second int64) events.Message {
	return events.Message{Subject: subject, Sequence: sequence, ReceivedAt: time.Unix(second, 0)}
}

func TestViewOfState(t *testing.T) {
	t.Parallel()
	v := New(events.Watch{Stream: "S"})
	v.Begin()
	for _, m := range []events.Message{message("a", 1, 1), message("b", 2, 2), message("c", 3, 3)} {
		if !v.Take(m) {
			t.Errorf("the first reading kept %s back", m.Subject)
		}
	}
	if gone := v.Gone(); gone != nil {
		t.Errorf("Gone after the first reading = %v", gone)
	}
	v.Begin()
	for name, test := range map[string]struct {
		m    events.Message
		want bool
	}{
		"unchanged":                         {message("a", 1, 1), false},
		"the sequence given to a new event": {message("b", 2, 9), true},
	} {
		if got := v.Take(test.m); got != test.want {
			t.Errorf("%s: Take = %v, want %v", name, got, test.want)
		}
	}
	if gone := v.Gone(); !slices.Equal(gone, []string{"c"}) {
		t.Errorf("Gone = %v, want c", gone)
	}
	if !v.Take(message("c", 4, 10)) {
		t.Error("a subject that came back was kept back")
	}
}

func TestViewOfHistory(t *testing.T) {
	t.Parallel()
	v := New(events.Watch{Stream: "S", Since: time.Unix(0, 1)})
	v.Begin()
	for sequence := range uint64(3) {
		v.Take(message("a", sequence+1, int64(sequence)+1))
	}
	v.Begin()
	for _, step := range []struct { // each goes on from the one before
		name string
		m    events.Message
		want bool
	}{
		{"handed on long ago", message("a", 1, 1), false},
		{"handed on last", message("a", 3, 3), false},
		{"after a lost tail, with a known number", message("a", 2, 4), true},
	} {
		if got := v.Take(step.m); got != step.want {
			t.Errorf("%s: Take = %v, want %v", step.name, got, step.want)
		}
	}
	if gone := v.Gone(); gone != nil {
		t.Errorf("Gone of history = %v", gone)
	}
}
