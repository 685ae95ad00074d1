package ledger

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// getter answers Last with a fixed message.
type getter struct {
	message events.Message
	err     error
	before  func()
}

func (g getter) Last(context.Context, string, string) (events.Message, error) {
	if g.before != nil {
		g.before()
	}
	return g.message, g.err
}

func message(sequence uint64) events.Message {
	return events.Message{Subject: "s", Sequence: sequence, ReceivedAt: time.Unix(int64(sequence), 0)}
}

func stored(sequence uint64) events.Update {
	return events.Update{Kind: events.Stored, Message: message(sequence)}
}

func newLedger(changes *[]string) *Ledger[uint64] {
	number := func(e *Entry[uint64]) string {
		if e == nil {
			return "-"
		}
		return fmt.Sprint(e.Value)
	}
	return New(events.NewClock(nil), func(u events.Update) uint64 { return u.Message.Sequence }, func(_ string, before, now *Entry[uint64]) {
		*changes = append(*changes, number(before)+" "+number(now))
	}, nil)
}

func TestFollow(t *testing.T) {
	t.Parallel()
	var changes []string
	l := newLedger(&changes)
	for _, u := range []events.Update{stored(3), {Kind: events.Synced}, stored(5), stored(4)} {
		l.apply(u)
	}
	e := l.Get("s")
	if e.Sequence != 5 || !l.Last(e) {
		t.Errorf("last is %+v, synced %t", *e, l.Synced())
	}
	l.Put(Entry[uint64]{Subject: "s", Sequence: 9, Value: 9}) // published by the owner
	l.Put(Entry[uint64]{Subject: "s", Sequence: 8, Value: 8}) // an answer that was late
	l.apply(stored(7))                                        // seen late
	if got := l.Get("s").Sequence; got != 9 || l.Last(e) {
		t.Errorf("last is %d, want 9", got)
	}
	if want := []string{"- 3", "3 5"}; !slices.Equal(changes, want) {
		t.Errorf("changes are %v, want %v", changes, want)
	}
}

// A restored store ends earlier than what was known. That counts.
func TestRestoredStore(t *testing.T) {
	t.Parallel()
	var changes []string
	l := newLedger(&changes)
	for _, u := range []events.Update{stored(9), {Kind: events.Synced}, {Kind: events.Behind}, stored(2)} {
		l.apply(u)
	}
	e := l.Get("s")
	if e.Sequence != 2 || l.Last(e) {
		t.Errorf("last is %d, certain %t, want 2, uncertain", e.Sequence, l.Last(e))
	}
	l.apply(events.Update{Kind: events.Synced})
	if !l.Last(e) {
		t.Error("uncertain after the whole was read")
	}
	l.apply(events.Update{Kind: events.Gone, Message: events.Message{Subject: "s"}})
	if l.Get("s") != nil || l.Len() != 0 || !slices.Equal(changes, []string{"- 9", "9 2", "2 -"}) {
		t.Errorf("changes are %v", changes)
	}
}

func TestReread(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		getter getter
		during uint64 // what the watch shows while the leader is asked
		want   uint64 // 0: none
	}{
		"newer":                {getter: getter{message: message(6)}, want: 6},
		"none":                 {getter: getter{err: fmt.Errorf("s: %w", events.ErrNotFound)}},
		"the watch was faster": {getter: getter{message: message(6)}, during: 7, want: 7},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changes []string
			l := newLedger(&changes)
			l.apply(stored(5))
			tt.getter.before = func() {
				if tt.during > 0 {
					l.apply(stored(tt.during))
				}
			}
			if err := l.Reread(t.Context(), tt.getter, "S", "s"); err != nil {
				t.Fatal(err)
			}
			var got uint64
			if e := l.Get("s"); e != nil {
				got = e.Sequence
			}
			if got != tt.want || len(changes) != 2 {
				t.Errorf("last is %d, want %d; changes are %v", got, tt.want, changes)
			}
		})
	}
}

// Once all is read, a message from another time does not move the clock.
func TestServerTimeIsFollowed(t *testing.T) {
	t.Parallel()
	at := func(kind events.UpdateKind, off time.Duration) events.Update {
		return events.Update{Kind: kind, Message: events.Message{Subject: "s", ReceivedAt: time.Now().Add(off)}}
	}
	for name, tt := range map[string]struct {
		updates []events.Update
		leap    time.Duration // about that much
	}{
		"the first reading":     {updates: []events.Update{at(events.Stored, -time.Hour), at(events.Synced, 0)}},
		"forward":               {updates: []events.Update{at(events.Synced, 0), at(events.Stored, time.Hour)}, leap: time.Hour},
		"back":                  {updates: []events.Update{at(events.Synced, 0), at(events.Stored, -time.Hour)}, leap: -time.Hour},
		"read again":            {updates: []events.Update{at(events.Synced, 0), {Kind: events.Behind}, at(events.Stored, -time.Hour)}},
		"read again, after all": {updates: []events.Update{at(events.Synced, 0), {Kind: events.Behind}, at(events.Synced, -time.Hour)}, leap: -time.Hour},
	} {
		var changes []string
		l := newLedger(&changes)
		for _, u := range tt.updates {
			l.apply(u)
		}
		by, _ := l.clock.Leap()
		if off := time.Until(l.clock.Now()).Abs(); off > time.Minute || (by-tt.leap).Abs() > time.Minute {
			t.Errorf("%s: off by %v with a leap of %v, want one of %v", name, off, by, tt.leap)
		}
	}
}
