package asker

import (
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

// sweepEvery is how often the snapshot is searched for what is gone.
const sweepEvery = time.Hour

// sweep forgets what is gone, and returns when to sweep next.
func (e *Asker) sweep(now time.Time) time.Time {
	if since := now.Sub(e.swept); since >= 0 && since < sweepEvery {
		return e.swept.Add(sweepEvery)
	}
	e.swept = now
	for k, a := range e.scorers {
		if a.wish() == nil && a.status == nil && a.Idle() && a.calling == 0 && !a.check.running {
			e.alarms.Set(a, time.Time{})
			e.alarms.Set(&a.check, time.Time{})
			e.resetUnits(a)
			delete(e.scorers, k)
		}
	}
	for name, c := range e.clusters {
		for score, p := range c.pairs {
			live := e.owners[score] != nil && c.scored()
			if !live && p.prior == nil && p.Idle() {
				e.alarms.Set(p, time.Time{})
				delete(c.pairs, score)
			}
		}
		known := c.onHub || c.metrics || c.deleted && now.Sub(c.hubAt) < events.TombstoneTTL
		if len(c.pairs) == 0 && !known {
			delete(e.clusters, name)
		}
	}
	return now.Add(sweepEvery)
}
