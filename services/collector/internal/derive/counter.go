package derive

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// counter is one series over the window.
type counter struct {
	last   float64 // as it was shown
	points []point // oldest first
}

// point is how much was counted since the series was first seen, as if the
// counter had never been reset.
type point struct {
	at    time.Time
	total float64
}

// add takes in a value. A counter that is less than before was reset, and
// has counted what it shows since.
func (c *counter) add(now time.Time, value float64, window time.Duration) {
	total := 0.0
	if n := len(c.points); n > 0 {
		step := value - c.last
		if step < 0 {
			step = value
		}
		total = c.points[n-1].total + step
	}
	c.last = value
	c.points = append(c.points, point{at: now, total: total})
	old := 0
	for now.Sub(c.points[old].at) > window || len(c.points)-old > MaxPoints {
		old++ // never the newest
	}
	c.points = slices.Delete(c.points, 0, old)
}

// increase is how much was counted within the window.
func (c *counter) increase() float64 { return c.points[len(c.points)-1].total - c.points[0].total }

// rate is the increase a second, between the first and the last snapshot in
// the window: nothing is extrapolated to the window's ends, as Prometheus'
// rate does. false: there is but one.
func (c *counter) rate() (float64, bool) {
	took := c.points[len(c.points)-1].at.Sub(c.points[0].at).Seconds()
	if took <= 0 {
		return 0, false
	}
	return c.increase() / took, true
}

// bucket counts what is at most its bound.
type bucket struct{ bound, count float64 }

// quantile estimates the q-quantile of what the buckets have counted, as
// Prometheus' histogram_quantile does: linearly within the bucket where it
// lies, from 0 within the first if its bound is positive; beyond the last
// finite bound it is that bound. false: nothing was counted, or there is no
// bucket for all; or q is 0 and the first bucket empty.
//
// Source: Prometheus, query functions, histogram_quantile.
func quantile(q float64, buckets []bucket) (float64, bool) {
	buckets = slices.Clone(buckets)
	slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.bound, b.bound) })
	for i := 1; i < len(buckets); i++ { // scraped at different moments, they may not grow
		buckets[i].count = max(buckets[i].count, buckets[i-1].count)
	}
	n := len(buckets)
	if n < 2 || !math.IsInf(buckets[n-1].bound, 1) || !(buckets[n-1].count > 0) {
		return 0, false
	}
	rank := q * buckets[n-1].count
	i := slices.IndexFunc(buckets[:n-1], func(b bucket) bool { return b.count >= rank })
	switch {
	case i < 0:
		return buckets[n-2].bound, true
	case i == 0 && buckets[0].bound <= 0:
		return buckets[0].bound, true
	}
	var start, before float64
	if i > 0 {
		start, before = buckets[i-1].bound, buckets[i-1].count
	}
	inside := buckets[i].count - before
	if inside == 0 { // rank is 0
		return 0, false
	}
	return start + (buckets[i].bound-start)*(rank-before)/inside, true
}
