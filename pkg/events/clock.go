package events

import (
	"sync"
	"time"
)

// Clock tells server time: the receive time of the newest message seen plus
// the local time that has passed since. The wall clock of this machine is
// only used until the first message.
type Clock struct {
	mu     sync.Mutex
	server time.Time
	local  time.Time // when server was seen, with a monotonic reading
	now    func() time.Time
}

// NewClock returns a Clock that reads elapsed time from now; nil means
// time.Now.
func NewClock(now func() time.Time) *Clock {
	if now == nil {
		now = time.Now
	}
	return &Clock{now: now}
}

// Observe takes note of a message's receive time. Only one ahead of Now
// moves the clock, so reading old messages does not set it back. It returns
// by how much it moved. While a state is read the clock only catches up, in
// jumps as large as its events are old; once it is synced a jump of more
// than a few seconds deserves an alarm.
func (c *Clock) Observe(receivedAt time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server.IsZero() {
		c.server, c.local = receivedAt, c.now()
		return 0
	}
	ahead := receivedAt.Sub(c.nowLocked())
	if ahead <= 0 {
		return 0
	}
	c.server, c.local = receivedAt, c.now()
	return ahead
}

// Now returns the current server time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Time {
	if c.server.IsZero() {
		return c.now()
	}
	return c.server.Add(c.now().Sub(c.local))
}
