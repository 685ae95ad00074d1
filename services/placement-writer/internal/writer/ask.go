package writer

import (
	"time"

	"github.com/spokewire/spokewire/internal/expression"
)

// askBudget is what the expressions of one Placement may cost, in CEL's units,
// before the others have their turn: some milliseconds, or one evaluation that
// is ended for what it costs.
const askBudget = expression.MaxCost / 20

// ask asks the expressions of a Placement about clusters, a few at a time
// where they are to be asked about all. Until they have been, the desk is
// among those that ask.
func (w *Writer) ask(d *desk, now time.Time) {
	if d.asking {
		return
	}
	if !w.askSome(d, now) {
		d.asking = true
		w.asking = append(w.asking, d)
	}
}

func (w *Writer) askSome(d *desk, now time.Time) (done bool) {
	asked := d.ranking.Asked()
	done = d.ranking.Ask(now, askBudget)
	w.counts.expressions.Add(float64(d.ranking.Asked() - asked))
	return done
}

// askOn goes on with the first of those that ask. The others have their turn
// after it, and whatever comes in before.
func (w *Writer) askOn() {
	if len(w.asking) == 0 {
		return
	}
	d := w.asking[0]
	w.asking[0] = nil
	w.asking = w.asking[1:]
	d.asking = false
	if d.ranking == nil || w.desks[d.seat] != d {
		w.enqueueQuietly(d) // another spec, or none
		return
	}
	if w.askSome(d, w.Now()) {
		w.enqueueQuietly(d)
		return
	}
	d.asking = true
	w.asking = append(w.asking, d)
}
