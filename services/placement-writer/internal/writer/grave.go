package writer

import (
	"maps"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
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

// desk returns the desk at a seat, a new one if there is none. What the hub
// has of a Placement is known to both of its desks.
func (w *Writer) desk(s seat) *desk {
	d := w.desks[s]
	if d != nil {
		return d
	}
	d = &desk{seat: s, triggers: map[string]decider.Trigger{}}
	if g := w.graves[s]; g != nil {
		d.deleted, d.sequence, d.acked = g.deleted, g.sequence, g.acked
		delete(w.graves, s)
	}
	w.desks[s] = d
	if s.shadow {
		w.shadows.desks++
		w.learn(d)
	}
	return d
}

// learn tells a new desk in shadow what its Placement's first one knows.
func (w *Writer) learn(d *desk) {
	first := seat{Key: d.Key}
	if known := w.desks[first]; known != nil {
		d.deleted, d.observed, d.position = known.deleted, known.observed, known.position
		w.setObject(d, known.object)
	} else if g := w.graves[first]; g != nil {
		d.deleted = g.deleted
	}
}

// both returns the desks that a Placement has, the first one even where it
// is new.
func (w *Writer) both(s events.Subject) []*desk {
	k := placement.Key{Namespace: s.Namespace, Name: s.Name}
	desks := []*desk{w.desk(seat{Key: k})}
	if shadow := w.desks[seat{k, true}]; shadow != nil {
		desks = append(desks, shadow)
	}
	return desks
}

// clearIdle takes the desk away if there is no reason to keep it.
func (w *Writer) clearIdle(d *desk) {
	if w.desks[d.seat] != d || !d.idle() {
		return
	}
	delete(w.desks, d.seat)
	if d.shadow {
		w.shadows.desks--
	}
	w.setObject(d, nil) // nobody's scores concern it any more
	if d.deleted == nil {
		return
	}
	now := w.Now()
	if w.Synced() && len(w.graves) >= w.sweepAt {
		maps.DeleteFunc(w.graves, func(_ seat, g *grave) bool { return now.Sub(g.since) > graveHold })
		w.sweepAt = max(minSweep, 2*len(w.graves))
	}
	w.graves[d.seat] = &grave{deleted: d.deleted, sequence: d.sequence, acked: d.acked, since: now}
}
