package placement

import (
	"fmt"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// rebalance is a schemas.Rebalance as decisions read it.
type rebalance struct {
	id, by string
	until  int64 // the first moment at which it is closed
}

const rebalanceTimer = "Rebalance"

// SetRebalance takes the Placement's last Rebalance in, which was received at
// a moment; nil is none. It reports whether anything changed.
func (f *Fleet) SetRebalance(k Key, r *schemas.Rebalance, receivedAt time.Time) bool {
	old, had := f.rebalances[k]
	if r == nil {
		delete(f.rebalances, k)
		return had
	}
	next := rebalance{r.Spec.ID, r.Spec.By, unixNano(r.Expiry(receivedAt))}
	f.rebalances[k] = next
	return !had || old != next
}

// forRebalance is what is left of the settings: all that keeps a cluster for
// its own sake is off, the change budget stays.
func (p policy) forRebalance() policy {
	p.deadBand, p.decisive, p.window, p.cooldown, p.dwell = 0, 0, 0, 0, 0
	return p
}

// open finds out whether a Rebalance is to be honoured. It is honoured once:
// decisions say which was the last one. One that Spokewire adopts moves
// nothing, so it waits for the next.
func (r *Ranking) open() {
	r.request = nil
	if request, asked := r.fleet.rebalances[r.placement.Key()]; asked && r.now < request.until {
		r.request = &request
	}
	state := r.honoured()
	open := r.request != nil && r.prior != nil && r.prior.Decision.Scheduler == SchedulerSpokewire && (state == nil || state.Remaining > 0)
	if open != r.rebalancing {
		r.rebalancing = open
		r.setPolicy()
	}
}

// honoured is what the prior decision says of the Rebalance in force, nil
// where it knows nothing of it.
func (r *Ranking) honoured() *schemas.Rebalancing {
	if r.request == nil || r.prior == nil {
		return nil
	}
	if state := r.prior.Decision.Rebalance; state != nil && state.ID == r.request.id {
		return state
	}
	return nil
}

// rebalanceLimit is how many of those that are behind may go at most: in a
// rebalance that has begun, no more than were behind then, so that noise does
// not keep it going.
func (r *Ranking) rebalanceLimit(behind int) int {
	if state := r.honoured(); r.rebalancing && state != nil {
		return min(behind, state.Remaining)
	}
	return behind
}

// rebalanceState is what the next decision must know. A first decision has
// nothing to move.
func (r *Ranking) rebalanceState() *schemas.Rebalancing {
	switch {
	case r.request == nil:
		return nil
	case r.prior == nil:
		return &schemas.Rebalancing{ID: r.request.id}
	case r.honours():
		return &schemas.Rebalancing{ID: r.request.id, Remaining: r.control.remaining}
	}
	return r.honoured()
}

// honours reports whether this decision is one that could move clusters for
// the Rebalance.
func (r *Ranking) honours() bool {
	return r.rebalancing && !r.choice.stays && r.policy.wrong == nil
}

// rebalanceNext is when the Rebalance in force makes another decision: now,
// where none has honoured it yet.
func (r *Ranking) rebalanceNext() int64 {
	switch {
	case r.request == nil:
		return never
	case r.honours() && r.honoured() == nil:
		return r.now
	}
	return r.request.until
}

// rebalanced reports whether this decision honours a Rebalance, or goes on
// with it.
func (r *Ranking) rebalanced() bool {
	return r.honours() && changedRebalance(r.prior.Decision.Rebalance, r.rebalanceState()) != Same
}

func (r *Ranking) causeOfRebalance(m moves) (string, string) {
	text := "rebalance " + r.request.id
	if r.request.by != "" {
		text += ", asked for by " + r.request.by
	}
	text += r.delta(m)
	switch n := r.control.remaining; {
	case n > 0:
		text += fmt.Sprintf("; %d to move when the change budget lets them", n)
	case len(m.removed) == 0:
		text += "; nothing to move"
	}
	return CauseRebalance, text
}

// rebalanceEnded says so of one whose time was up before it was done.
func (r *Ranking) rebalanceEnded() string {
	was := r.prior.Decision.Rebalance
	if was == nil || was.Remaining == 0 || r.rebalanceState() != nil {
		return ""
	}
	if was.Remaining == 1 {
		return fmt.Sprintf("rebalance %s ended, 1 cluster did not move", was.ID)
	}
	return fmt.Sprintf("rebalance %s ended, %d clusters did not move", was.ID, was.Remaining)
}

// changedRebalance compares how far rebalances are. One that is done and no
// longer in force is no news.
func changedRebalance(prior, next *schemas.Rebalancing) Difference {
	switch {
	case prior == nil && next == nil:
		return Same
	case next == nil:
		if prior.Remaining == 0 {
			return Same
		}
	case prior != nil && *prior == *next:
		return Same
	}
	return Material
}
