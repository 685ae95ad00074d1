package writer

import (
	"maps"
	"slices"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// early is a decision that counts for Balance before it was read back from
// the log.
type early struct {
	after    uint64 // the last event of its subject before it
	decision *schemas.PlacementDecision
}

// ahead holds the Placements whose last decision is early. Decisions name
// them, so that they can be made again from the log. A Placement may have one
// of both kinds, and then the one on its way counts.
type ahead struct {
	away   map[placement.Key]early // on their way
	stored map[placement.Key]early // in the log, as this replica was told
}

func newAhead() ahead { return ahead{map[placement.Key]early{}, map[placement.Key]early{}} }

// of returns the Placement's.
func (a ahead) of(k placement.Key) early {
	if e, away := a.away[k]; away {
		return e
	}
	return a.stored[k]
}

// read takes note that the log was read up to an event of k. Whatever comes
// behind the event that a decision was to follow is that decision, or has
// taken its place.
func (a ahead) read(k placement.Key, sequence uint64) {
	for _, kind := range []map[placement.Key]early{a.away, a.stored} {
		if e, there := kind[k]; there && sequence > e.after {
			delete(kind, k)
		}
	}
}

// aheadOf lists what a decision of own counts before it was read back.
func (w *Writer) aheadOf(own placement.Key) []schemas.Ahead {
	keys := slices.Collect(maps.Keys(w.ahead.away))
	for k := range w.ahead.stored {
		if _, away := w.ahead.away[k]; !away {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, placement.Key.Compare)
	var list []schemas.Ahead
	for _, k := range keys {
		if d := w.desks[seat{Key: k}]; k == own || d == nil || !w.counted(d).Counts() {
			continue
		}
		e := w.ahead.of(k)
		list = append(list, schemas.Ahead{Namespace: k.Namespace, Name: k.Name, After: e.after, Now: e.decision.Now})
	}
	return list
}

// counted is what counts of the desk for the Balance of others: what is on
// its way does until its outcome is known.
func (w *Writer) counted(d *desk) placement.Known {
	k := d.known()
	if e, away := w.ahead.away[d.Key]; away {
		k.Decision = e.decision
	}
	return k
}
