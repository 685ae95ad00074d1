package events

import (
	"sync"
	"time"
)

const (
	// MaxLeap is by how much server time may differ from a Clock before
	// Follow takes it for a leap.
	MaxLeap = time.Minute
	// LeapHold is how long a leap is waited out before a Clock takes it over.
	LeapHold = time.Minute
	// minLate is how many messages it takes to believe that server time went
	// back: one may just be late.
	minLate = 3
)

// Clock tells server time: the receive time of the newest message seen plus
// the local time that has passed since. The wall clock of this machine is
// only used until the first message.
//
// Server time can leap: its clock was set, or another server leads now. Both
// ways do harm. An hour forward expires all that was received before, an
// hour back all that is received from then on, for as long as the Clock runs
// ahead. So Follow, for who decides by this time, changes nothing at once:
// the Clock goes on as it was for LeapHold, and Settle takes the leap over
// unless a message has shown meanwhile that the Clock was right. Who decides
// does best to wait as long as Leap says that server time seems to have gone
// back, which is also what it looks like to be behind with the reading. What
// was received before a leap back holds for longer afterwards, by as much as
// server time went back.
type Clock struct {
	mu      sync.Mutex
	base    base
	leap    leap
	alarmed time.Time // by the local clock
	now     func() time.Time
}

// base is a server time and when it was seen: by the local clock, with its
// monotonic reading.
type base struct{ server, local time.Time }

func (b base) at(local time.Time) time.Time { return b.server.Add(local.Sub(b.local)) }

// leap is one that was seen and not yet taken over.
type leap struct {
	messages int // that show it; 0: there is none
	by       time.Duration
	since    time.Time // by the local clock
	base     base
}

// believed reports whether enough messages show it.
func (l leap) believed() bool { return l.messages >= minLate || l.by > 0 && l.messages > 0 }

// NewClock returns a Clock that reads elapsed time from now; nil means
// time.Now.
func NewClock(now func() time.Time) *Clock {
	if now == nil {
		now = time.Now
	}
	return &Clock{now: now}
}

// Observe takes note of a message's receive time. Only one ahead of Now
// moves the clock, at once and however far, so reading old messages does not
// set it back. It returns by how much it moved.
func (c *Clock) Observe(receivedAt time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, off := c.compare(receivedAt)
	if off <= 0 {
		return 0
	}
	c.base = seen
	return off
}

// Follow is Observe for a clock that was right before: a receive time that
// is off by more than MaxLeap starts a leap. A message is fresh if it was
// stored just now; one that may be old is no sign that server time went back.
// It returns by how much server time leapt where that deserves an alarm, at
// most once in LeapHold.
func (c *Clock) Follow(receivedAt time.Time, fresh bool) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, off := c.compare(receivedAt)
	switch {
	case off.Abs() <= MaxLeap:
		if off > 0 {
			c.base = seen
		}
		if fresh {
			c.leap = leap{}
		}
		return 0
	case off < 0 && !fresh:
		return 0
	}
	c.suspect(seen, off)
	if !c.leap.believed() || !c.alarmed.IsZero() && seen.local.Sub(c.alarmed) < LeapHold {
		return 0
	}
	c.alarmed = seen.local
	return off
}

// compare returns by how much receivedAt is ahead of the clock. The first
// one sets it.
func (c *Clock) compare(receivedAt time.Time) (base, time.Duration) {
	seen := base{receivedAt, c.now()}
	if c.base.server.IsZero() {
		c.base = seen
	}
	return seen, receivedAt.Sub(c.base.at(seen.local))
}

func (c *Clock) suspect(seen base, off time.Duration) {
	if c.leap.messages == 0 || (c.leap.by > 0) != (off > 0) {
		c.leap = leap{since: seen.local, by: off, base: seen}
	}
	c.leap.messages++
	if seen.server.After(c.leap.base.at(seen.local)) {
		c.leap.base, c.leap.by = seen, off
	}
}

// Leap returns by how much server time seems to have leapt, 0 if it has not,
// and how long until Settle says whether it has.
func (c *Clock) Leap() (by, left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leap.messages == 0 {
		return 0, 0
	}
	return c.leap.by, max(0, LeapHold-c.now().Sub(c.leap.since))
}

// Settle takes a leap over once LeapHold has passed, and returns by how much
// that moved the clock. One that too few messages have shown is forgotten.
func (c *Clock) Settle() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	local := c.now()
	l := c.leap
	if l.messages == 0 || local.Sub(l.since) < LeapHold {
		return 0
	}
	c.leap = leap{}
	if !l.believed() {
		return 0
	}
	moved := l.base.at(local).Sub(c.base.at(local))
	c.base = l.base
	return moved
}

// Now returns the current server time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.server.IsZero() {
		return c.now()
	}
	return c.base.at(c.now())
}
