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

// control is what flap control makes of one choice.
type control struct {
	holds  map[int32]hold
	behind map[int32]int64 // since when; what the next decision must know
	first  [gates]int64    // when the first hold of each kind ends
}

func (c *control) reset() {
	c.holds, c.behind = nil, nil
	for g := range c.first {
		c.first[g] = never
	}
}

func (c *control) hold(id int32, h hold) {
	if c.holds == nil {
		c.holds = map[int32]hold{}
	}
	c.holds[id] = h
}

// next is when the first hold ends, never if none does.
func (c *control) next() int64 { return slices.Min(c.first[:]) }

// release returns which of those behind may go now, and notes what holds the
// others.
func (r *Ranking) release(x *contest) map[int32]bool {
	released := map[int32]bool{}
	tracked := r.track(x.behind)
	for i, id := range x.behind {
		lead, led := r.lead(x, i)
		h := r.holdOf(id, led && r.policy.decisive > 0 && lead > r.policy.decisive)
		if left, refill := r.budgetLeft(len(released)); left <= 0 && refill > h.until {
			h = hold{gateBudget, refill}
		}
		if h.until <= r.now && h.gate != gateSettings {
			released[id] = true
			continue
		}
		r.control.hold(id, h)
		since, waits := tracked[id]
		if waits {
			if r.control.behind == nil {
				r.control.behind = map[int32]int64{}
			}
			r.control.behind[id] = since
		}
		if waits || h.gate != gateWindow {
			r.control.first[h.gate] = min(r.control.first[h.gate], h.until)
		}
	}
	return released
}

// track says since when each of those behind is behind: at most
// MaxFlapClusters, first those of whom it was known already.
func (r *Ranking) track(behind []int32) map[int32]int64 {
	if r.policy.window == 0 || r.policy.wrong != nil {
		return nil
	}
	out := map[int32]int64{}
	for _, id := range behind {
		if since, known := r.before.behind[id]; known {
			out[id] = since
		}
	}
	for _, id := range behind {
		if _, known := out[id]; !known && len(out) < schemas.MaxFlapClusters {
			out[id] = r.now
		}
	}
	return out
}

// holdOf is the gate that keeps the cluster longest, leaving the budget
// aside.
func (r *Ranking) holdOf(id int32, decisive bool) hold {
	p := &r.policy
	if p.wrong != nil {
		return hold{gateSettings, never}
	}
	h := hold{gateWindow, r.now}
	if decisive {
		return h
	}
	since, known := r.before.behind[id]
	if !known {
		since = r.now
	}
	h.until = max(h.until, plus(since, p.window))
	if at, known := r.selectedSince(id); known && p.dwell > 0 {
		h = h.or(hold{gateDwell, plus(at, p.dwell)})
	}
	if n := len(r.before.moves); n > 0 && p.cooldown > 0 {
		h = h.or(hold{gateCooldown, plus(r.before.moves[n-1].at, p.cooldown)})
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
func (r *Ranking) whyHeldBy(h hold) string {
	p := &r.policy
	until := func(what string, d time.Duration) string {
		return fmt.Sprintf("selected before, now behind; kept until %s by the %s of %s", clock(h.until), what, d)
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
	case gateSettings:
		return "selected before; nothing moves while the settings of flap control are wrong"
	}
	return fmt.Sprintf("selected before; no other leads by more than the dead band of %d", p.deadBand)
}
