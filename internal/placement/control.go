package placement

import (
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// gate is what keeps a selected cluster although another would take its
// place.
type gate uint8

const (
	gateBand gate = iota
	gateWindow
	gateDwell
	gateCooldown
	gateBudget
	gateDrain    // no other cluster takes the place of one that is being drained
	gateSettings // they contradict each other or cannot be read
	gates
)

// gateNames are the keys of a decision's timers; the gates without a name let
// go by no timer.
var gateNames = [gates]string{gateWindow: "Stabilisation", gateDwell: "MinimumDwell", gateCooldown: "Cooldown", gateBudget: "ChangeBudget"}

// hold says what keeps a cluster, and until when.
type hold struct {
	gate  gate
	until int64
}

// waiter is a cluster that is behind, and its hold.
type waiter struct {
	id int32
	hold
}

// control is what flap control makes of one choice.
type control struct {
	drains map[int32]hold  // those that are being drained
	waits  []waiter        // those that are behind, the worst first
	behind map[int32]int64 // since when; what the next decision must know
	first  [gates]int64    // when the first hold of each kind ends
	// drained is how many clusters a drain lets go, remaining how many a
	// rebalance has still to move.
	drained, remaining int
}

func (c *control) reset() {
	clear(c.drains)
	c.waits = c.waits[:0]
	clear(c.behind)
	c.drained, c.remaining = 0, 0
	for g := range c.first {
		c.first[g] = never
	}
}

func (c *control) drain(id int32, h hold) {
	if c.drains == nil {
		c.drains = map[int32]hold{}
	}
	c.drains[id] = h
}

func (c *control) isBehind(id int32, since int64) {
	if c.behind == nil {
		c.behind = map[int32]int64{}
	}
	c.behind[id] = since
}

// heldBy is what keeps a cluster that is selected, if anything does.
func (r *Ranking) heldBy(id int32) (hold, bool) {
	waits := r.control.waits
	if i, found := slices.BinarySearchFunc(waits, id, func(w waiter, id int32) int { return r.compare(id, w.id) }); found {
		return waits[i].hold, true
	}
	if h, drains := r.control.drains[id]; drains {
		return h, true
	}
	banded := r.choice.banded && r.compare(r.order[len(r.choice.ids)-1], id) < 0
	return hold{gateBand, never}, banded
}

// next is when the first hold ends, never if none does.
func (c *control) next() int64 { return slices.Min(c.first[:]) }

// release returns which of those behind may go now, and notes what holds the
// others.
func (r *Ranking) release(x *contest) *marks {
	released := r.mark(&r.fleet.scratch.released, nil)
	known, room := r.track(x.behind)
	limit := r.rebalanceLimit(len(x.behind))
	drains := len(r.control.drains) > 0
	for i, id := range x.behind {
		since, waits := r.now, false
		switch {
		case known.has(id):
			since, waits = r.before.behind[id], r.tracks()
		case room > 0:
			room, waits = room-1, true
		}
		if drains && r.drainWaits(id) || len(released.ids) == limit {
			continue
		}
		lead, led := r.lead(x, i)
		h := r.holdOf(id, since, led && r.policy.decisive > 0 && lead > r.policy.decisive)
		if left, refill := r.budgetLeft(len(released.ids) + r.control.drained); left <= 0 && refill > h.until {
			h = hold{gateBudget, refill}
		}
		if h.until <= r.now && h.gate != gateSettings {
			released.add(id)
			delete(r.control.drains, id)
			continue
		}
		r.control.waits = append(r.control.waits, waiter{id, h})
		if waits {
			r.control.isBehind(id, since)
		}
		if waits || h.gate != gateWindow {
			r.control.first[h.gate] = min(r.control.first[h.gate], h.until)
		}
	}
	r.control.remaining = limit - len(released.ids)
	return released
}

// drainWaits reports whether a drain of the cluster waits for its turn.
func (r *Ranking) drainWaits(id int32) bool {
	h, held := r.control.drains[id]
	return held && h.gate != gateDrain
}

// tracks reports whether it matters since when a cluster is behind.
func (r *Ranking) tracks() bool { return r.policy.window > 0 && r.policy.wrong == nil }

// track returns those of whom it is known since when they are behind, and for
// how many others the next decision has room: with the known ones it says it
// of MaxFlapClusters at most.
func (r *Ranking) track(behind []int32) (known *marks, room int) {
	known = r.mark(&r.fleet.scratch.known, nil)
	for id := range r.before.behind {
		known.add(id)
	}
	if !r.tracks() {
		return known, 0
	}
	room = schemas.MaxFlapClusters
	if len(known.ids) > 0 {
		for _, id := range behind {
			if known.has(id) {
				room--
			}
		}
	}
	return known, room
}

// holdOf is the gate that keeps a cluster longest that is behind since a
// moment, leaving the budget aside.
func (r *Ranking) holdOf(id int32, since int64, decisive bool) hold {
	p := &r.policy
	if p.wrong != nil {
		return hold{gateSettings, never}
	}
	h := hold{gateWindow, r.now}
	if decisive {
		return h
	}
	h.until = max(h.until, plus(since, p.window))
	if p.dwell > 0 {
		if at, known := r.selectedSince(id); known {
			h = h.or(hold{gateDwell, plus(at, p.dwell)})
		}
	}
	return h.or(r.cooling())
}

// cooling is the hold of the cooldown, one that is over where there is none.
func (r *Ranking) cooling() hold {
	h := hold{gate: gateCooldown}
	if n := len(r.before.moves); n > 0 && r.policy.cooldown > 0 {
		h.until = plus(r.before.moves[n-1].at, r.policy.cooldown)
	}
	return h
}

func (h hold) or(o hold) hold {
	if o.until > h.until {
		return o
	}
	return h
}

// selectedSince is when the cluster was selected, if that matters still.
func (r *Ranking) selectedSince(id int32) (int64, bool) {
	if at, known := r.before.since[id]; known {
		return at, true
	}
	return r.before.others, r.before.others != 0
}

// budgetLeft is how many more moves there may be beside those of this
// decision, and when there may be one again if that is none.
func (r *Ranking) budgetLeft(now int) (left int, refill int64) {
	p := &r.policy
	if p.budget == 0 {
		return 1, 0
	}
	used := now
	for _, m := range r.before.moves {
		if plus(m.at, p.interval) > r.now {
			used += m.count
		}
	}
	left = p.budget - used
	for _, m := range r.before.moves {
		end := plus(m.at, p.interval)
		if used < p.budget || end <= r.now {
			continue
		}
		used, refill = used-m.count, end
	}
	if used >= p.budget {
		refill = plus(r.now, p.interval)
	}
	return left, refill
}

// whyHeldBy says what keeps a cluster, for people.
func (r *Ranking) whyHeldBy(id int32, h hold) string {
	p, is := &r.policy, "now behind"
	if c := r.fleet.cordoned(id, r.now); c != nil && c.draining() {
		is = c.String()
	}
	until := func(what string, d time.Duration) string {
		return fmt.Sprintf("selected before, %s; kept until %s by the %s of %s", is, clock(h.until), what, d)
	}
	switch h.gate {
	case gateWindow:
		return until("stabilisation window", p.window)
	case gateDwell:
		return until("minimum dwell", p.dwell)
	case gateCooldown:
		return until("cooldown", p.cooldown)
	case gateBudget:
		return until(fmt.Sprintf("change budget of %d", p.budget), p.interval)
	case gateDrain:
		return "selected before, " + is + "; stays until another cluster can take its place"
	case gateSettings:
		return "selected before; nothing moves while the settings of flap control are wrong"
	}
	return fmt.Sprintf("selected before; no other leads by more than the dead band of %d", p.deadBand)
}
