package writer

import (
	"maps"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// grave is what is left of the desk of a deleted Placement, for a while: a
// decision that the tombstone ends may still be on its way.
type grave struct {
	deleted         *schemas.Deleted
	sequence, acked uint64
	since           time.Time // server time
}

const (
	// graveHold is how long a grave is kept at least.
	graveHold = 10 * time.Minute
	// minSweep is how many graves there are before the old ones are looked for.
	minSweep = 1024
)

// desk returns the desk of k, a new one if it has none.
func (w *Writer) desk(k placement.Key) *desk {
	d := w.desks[k]
	if d == nil {
		d = &desk{key: k, triggers: map[string]decider.Trigger{}}
		if g := w.graves[k]; g != nil {
			d.deleted, d.sequence, d.acked = g.deleted, g.sequence, g.acked
			delete(w.graves, k)
		}
		w.desks[k] = d
	}
	return d
}

// clearIdle takes the desk away if there is no reason to keep it.
func (w *Writer) clearIdle(d *desk) {
	if w.desks[d.key] != d || !d.idle() {
		return
	}
	delete(w.desks, d.key)
	if d.deleted == nil {
		return
	}
	now := w.Now()
	if w.Synced() && len(w.graves) >= w.sweepAt {
		maps.DeleteFunc(w.graves, func(_ placement.Key, g *grave) bool { return now.Sub(g.since) > graveHold })
		w.sweepAt = max(minSweep, 2*len(w.graves))
	}
	w.graves[d.key] = &grave{deleted: d.deleted, sequence: d.sequence, acked: d.acked, since: now}
}
