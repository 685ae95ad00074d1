package decider

import (
	"testing"
	"time"
)

type thing struct {
	Turn
	name int
}

func TestLine(t *testing.T) {
	t.Parallel()
	var l Line[*thing]
	next := func(want int) {
		t.Helper()
		got := 0 // the line is empty
		if x, ok := l.Pop(); ok {
			got = x.name
		}
		if got != want {
			t.Fatalf("Pop = %d, want %d", got, want)
		}
	}
	a, b := &thing{name: 1}, &thing{name: 2}
	next(0)
	l.Push(a)
	l.Push(b)
	l.Push(a) // stands there
	if l.Len() != 2 || a.Idle() {
		t.Errorf("Len = %d, idle = %v", l.Len(), a.Idle())
	}
	next(1)
	l.Away(a)
	l.Push(a)
	l.Push(a) // both for when it is back
	next(2)
	next(0)
	l.Back(a)
	next(1)
	next(0)
	l.Hold(a)
	l.Push(a) // is held
	next(0)
	l.Release()
	next(1)
	l.Away(a)
	l.Back(a) // nothing came meanwhile
	next(0)
	if !a.Idle() || !b.Idle() {
		t.Error("not idle in the end")
	}
}

func TestLineReusesItsRoom(t *testing.T) {
	t.Parallel()
	var l Line[*thing]
	for i := range 1000 {
		l.Push(&thing{name: i})
	}
	for i := range 100_000 {
		l.Push(&thing{name: 1000 + i})
		if x, ok := l.Pop(); !ok || x.name != i {
			t.Fatalf("Pop %d = %+v", i, x)
		}
	}
	if cap(l.items) > 10_000 {
		t.Errorf("room for %d items for 1000 at a time", cap(l.items))
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	began := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	type ask struct {
		at       time.Duration
		covered  bool
		wantWait bool
	}
	for name, asks := range map[string][]ask{
		"covered":          {{covered: true}},
		"not for ever":     {{0, false, true}, {MaxWait - 1, false, true}, {MaxWait, false, false}, {MaxWait + 1, false, false}},
		"caught up":        {{0, false, true}, {1, true, false}, {MaxWait, false, true}},
		"server time back": {{time.Hour, false, true}, {0, false, true}, {MaxWait, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turn Turn
			for i, a := range asks {
				now := began.Add(a.at)
				until, wait := turn.Wait(a.covered, now)
				if wait != a.wantWait || wait && until.Sub(now) > MaxWait {
					t.Errorf("ask %d: wait = %v until %v, want %v", i, wait, until, a.wantWait)
				}
			}
		})
	}
}

func TestRetryBacksOff(t *testing.T) {
	t.Parallel()
	var turn Turn
	now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	first := turn.Retry(now).Sub(now)
	for range 20 {
		turn.Retry(now)
	}
	if last := turn.Retry(now).Sub(now); first <= 0 || last <= first || last > time.Minute {
		t.Errorf("waits %v first and %v in the end", first, last)
	}
}
