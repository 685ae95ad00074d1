package events_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

func TestClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := events.NewClock(nil)
		if got := c.Now(); !got.Equal(time.Now()) {
			t.Errorf("before any message Now = %v, want the local time", got)
		}
		server := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
		if moved := c.Observe(server); moved != 0 {
			t.Errorf("the first message moved it by %v", moved)
		}
		time.Sleep(90 * time.Second)
		if got, want := c.Now(), server.Add(90*time.Second); !got.Equal(want) {
			t.Errorf("Now = %v, want %v", got, want)
		}
		for name, test := range map[string]struct{ ahead, want time.Duration }{
			"an old message":       {-time.Hour, 0},
			"one from right now":   {0, 0},
			"one that is a second": {time.Second, time.Second},
		} {
			before := c.Now()
			if moved := c.Observe(before.Add(test.ahead)); moved != test.want || !c.Now().Equal(before.Add(test.want)) {
				t.Errorf("%s: moved by %v to %v, want by %v from %v", name, moved, c.Now(), test.want, before)
			}
		}
	})
}

func TestClockLeaps(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	// seen is a message after a while, by how much it is off the time that a
	// server would tell whose clock nobody touches.
	type seen struct {
		after time.Duration
		off   time.Duration
		old   bool
	}
	for name, tc := range map[string]struct {
		seen       []seen
		wantAlarms []time.Duration
		wantOff    time.Duration // after the last message, before Settle
		wantMoved  time.Duration // by Settle, LeapHold after the last message
	}{
		"nothing":                        {},
		"a little ahead":                 {seen: []seen{{off: 50 * time.Second}}, wantOff: 50 * time.Second},
		"a little late":                  {seen: []seen{{off: -50 * time.Second}, {off: -50 * time.Second}, {off: -50 * time.Second}}},
		"forward":                        {seen: []seen{{off: hour}}, wantAlarms: []time.Duration{hour}, wantMoved: hour},
		"forward, and put right":         {seen: []seen{{off: hour}, {after: time.Second}}, wantAlarms: []time.Duration{hour}},
		"forward, seen by a late reader": {seen: []seen{{off: hour, old: true}}, wantAlarms: []time.Duration{hour}, wantMoved: hour},
		"back": {
			seen:       []seen{{off: -hour}, {off: -hour + time.Second}, {off: -hour}, {after: time.Second, off: -hour}},
			wantAlarms: []time.Duration{-hour}, wantMoved: -hour + time.Second,
		},
		"back, and put right":   {seen: []seen{{off: -hour}, {off: -hour}, {off: -hour}, {}}, wantAlarms: []time.Duration{-hour}},
		"two late messages":     {seen: []seen{{off: -hour}, {off: -hour}}},
		"old messages":          {seen: []seen{{off: -hour, old: true}, {off: -2 * hour, old: true}, {off: -hour, old: true}}},
		"an old one is no cure": {seen: []seen{{off: hour}, {old: true}}, wantAlarms: []time.Duration{hour}, wantMoved: hour},
		"forward, then back": {
			seen:       []seen{{off: hour}, {off: -hour}, {off: -hour}, {after: events.LeapHold, off: -hour}},
			wantAlarms: []time.Duration{hour, -hour}, wantMoved: -hour,
		},
		"back and forth is told once": {
			seen:       []seen{{off: hour}, {}, {off: hour}, {}, {off: hour}},
			wantAlarms: []time.Duration{hour}, wantMoved: hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := events.NewClock(nil)
				began, server := time.Now(), time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
				right := func() time.Time { return server.Add(time.Since(began)) }
				c.Observe(server)
				var alarms []time.Duration
				for _, s := range tc.seen {
					time.Sleep(s.after)
					if alarm := c.Follow(right().Add(s.off), !s.old); alarm != 0 {
						alarms = append(alarms, alarm)
					}
				}
				if !slices.Equal(alarms, tc.wantAlarms) {
					t.Errorf("alarms %v, want %v", alarms, tc.wantAlarms)
				}
				if off := c.Now().Sub(right()); off != tc.wantOff {
					t.Errorf("off by %v, want %v", off, tc.wantOff)
				}
				if by, left := c.Leap(); by == 0 && left > 0 || left > events.LeapHold {
					t.Errorf("a leap of %v in %v", by, left)
				}
				time.Sleep(events.LeapHold)
				if moved := c.Settle(); moved != tc.wantMoved || c.Now().Sub(right()) != tc.wantOff+moved {
					t.Errorf("Settle moved it by %v, want %v, to %v", moved, tc.wantMoved, c.Now().Sub(right()))
				}
				if by, left := c.Leap(); by != 0 || left != 0 || c.Settle() != 0 {
					t.Errorf("there is still a leap of %v in %v", by, left)
				}
			})
		})
	}
}

// TestClockWaitsBeforeALeap: Settle does nothing early, and Leap says when it
// will.
func TestClockWaitsBeforeALeap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := events.NewClock(nil)
		c.Observe(time.Now())
		c.Follow(time.Now().Add(time.Hour), true)
		time.Sleep(20 * time.Second)
		if by, left := c.Leap(); by != time.Hour || left != events.LeapHold-20*time.Second || c.Settle() != 0 {
			t.Errorf("a leap of %v in %v", by, left)
		}
	})
}
