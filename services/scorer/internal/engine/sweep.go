package engine

import (
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// sweepEvery is how often the snapshot is searched for what the log has
// dropped.
const sweepEvery = time.Hour

// sweep forgets, once in a while, what is in the log no more because of its
// age, which nobody tells: so that memory is bounded, and that a replica that
// has run for long says the same as one that has just started. It returns
// when to sweep next.
func (e *Engine) sweep(now time.Time) time.Time {
	since := now.Sub(e.swept)
	if since >= 0 && since < sweepEvery {
		return e.swept.Add(sweepEvery)
	}
	e.swept = now
	for name, s := range e.scorers {
		if s.program == nil && now.Sub(s.receivedAt) >= events.TombstoneTTL {
			delete(e.scorers, name)
		}
	}
	oldest := now.Add(-metricsAge())
	for name, c := range e.clusters {
		e.sweepCluster(c, now, oldest)
		if len(c.Sources) == 0 && len(c.pairs) == 0 && c.on == unknown {
			delete(e.clusters, name)
		}
	}
	e.measure()
	return now.Add(sweepEvery)
}

// sweepCluster leaves pairs that it marks to the next sweep.
func (e *Engine) sweepCluster(c *cluster, now, oldest time.Time) {
	for at := len(c.Sources) - 1; at >= 0; at-- {
		if s := c.Sources[at]; s.ReceivedAt.Before(oldest) {
			e.event++
			c.drop(at)
			e.enrol(c)
			e.markReaders(c, &input{gone: true}, s)
		}
	}
	if c.on == deleted && now.Sub(c.hubAt) >= events.TombstoneTTL {
		e.event++
		c.on = unknown
		e.markAll(c, &input{gone: true})
	}
	for name, p := range c.pairs {
		live := e.scorers[name] != nil && e.scorers[name].program != nil && p.scored()
		if !live && p.prior == nil && p.Idle() && p.At().IsZero() {
			delete(c.pairs, name)
		}
	}
}

// metricsAge is how long the log keeps metrics.
func metricsAge() time.Duration {
	for _, s := range events.Streams() {
		if s.Name == events.StreamMetrics {
			return s.MaxAge
		}
	}
	return 0
}
