package dynamic

import "time"

// Times of a Breaker and of what is tried again, before jitter.
const (
	breakAfter = 5 // failures in a row
	firstBreak = 5 * time.Second
	lastBreak  = time.Minute
	firstRetry = time.Second
)

// Breaker keeps a scorer that fails from being asked for a while, longer each
// time; then one call tries. The zero value is closed. Its times are server
// time.
type Breaker struct {
	failures int
	until    time.Time
	probing  bool
}

// Open returns until when nothing is to be asked, and whether that is so.
func (b *Breaker) Open(now time.Time) (until time.Time, open bool) {
	switch {
	case b.failures < breakAfter:
		return time.Time{}, false
	case now.Before(b.until):
		return b.until, true
	case b.probing:
		return now.Add(firstRetry), true
	}
	return time.Time{}, false
}

// Try takes note of a call.
func (b *Breaker) Try() { b.probing = b.failures >= breakAfter }

// Dropped takes note of a call that never came to the scorer.
func (b *Breaker) Dropped() { b.probing = false }

// Succeeded takes note of an answer.
func (b *Breaker) Succeeded() { *b = Breaker{} }

// Failed takes note of a failure. jitter is in [0, 1).
func (b *Breaker) Failed(now time.Time, jitter float64) {
	b.failures++
	b.probing = false
	if b.failures >= breakAfter {
		b.until = now.Add(doubled(firstBreak, b.failures-breakAfter, lastBreak, jitter))
	}
}

// Retry is after how long what has failed so often in a row is tried again:
// no later than the next time that it is due anyway. jitter is in [0, 1).
func Retry(failures int, interval time.Duration, jitter float64) time.Duration {
	return doubled(firstRetry, failures-1, max(interval, firstRetry), jitter)
}

// doubled is first, doubled so often, at most last, less up to a half.
func doubled(first time.Duration, times int, last time.Duration, jitter float64) time.Duration {
	d := first
	for ; times > 0 && d < last; times-- {
		d *= 2
	}
	d = min(d, last)
	return d - time.Duration(jitter*float64(d)/2)
}
