package decider

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

type clock struct {
	Alarm
	name int
}

func TestAlarmsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	var alarms Alarms[*clock]
	clocks := make([]*clock, 100)
	for i := range clocks {
		clocks[i] = &clock{name: i}
		alarms.Set(clocks[i], start.Add(time.Duration(r.IntN(1000))*time.Second))
	}
	want := map[int]time.Time{}
	for i, c := range clocks {
		switch i % 3 {
		case 0:
			alarms.Set(c, time.Time{}) // never
			continue
		case 1:
			alarms.Set(c, start.Add(time.Duration(r.IntN(1000))*time.Second))
		}
		want[i] = c.At()
	}
	alarms.Set(clocks[0], time.Time{}) // once more
	last := start
	for len(want) > 0 {
		next := alarms.Next()
		if _, early := alarms.Due(next.Add(-1)); early {
			t.Fatal("it comes before its time")
		}
		c, ok := alarms.Due(next)
		if !ok || !want[c.name].Equal(next) || next.Before(last) || !c.At().IsZero() {
			t.Fatalf("got %v, %v at %v, want one that is due then", c, ok, next)
		}
		delete(want, c.name)
		last = next
	}
	if !alarms.Next().IsZero() || slices.ContainsFunc(clocks, func(c *clock) bool { return !c.At().IsZero() }) {
		t.Error("alarms are left")
	}
}
