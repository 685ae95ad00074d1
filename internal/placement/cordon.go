package placement

import (
	"fmt"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// cordon is a schemas.Cordon as decisions read it.
type cordon struct {
	spec  schemas.CordonSpec
	until int64 // the first moment at which it does not hold, never if there is none
}

// SetCordon takes the cluster's Cordon in, also where there is no such
// cluster yet; nil is none. It reports whether anything changed.
func (f *Fleet) SetCordon(cluster string, c *schemas.CordonSpec) bool {
	id := f.id(cluster)
	old, had := f.cordons[id]
	if c == nil || c.State == schemas.CordonLifted {
		delete(f.cordons, id)
		if had {
			f.note(&f.facts, id)
		}
		return had
	}
	next := cordon{spec: *c, until: never}
	if c.Until != nil {
		next.until, next.spec.Until = unixNano(*c.Until), nil
	}
	if had && old == next {
		return false
	}
	f.cordons[id] = next
	f.note(&f.facts, id)
	return true
}

// cordoned returns the cordon that holds for the cluster at a moment, nil if
// none does.
func (f *Fleet) cordoned(id int32, now int64) *cordon {
	if len(f.cordons) == 0 {
		return nil
	}
	if c, set := f.cordons[id]; set && now < c.until {
		return &c
	}
	return nil
}

func (c *cordon) draining() bool { return c.spec.State == schemas.CordonDraining }

// passCordon is the step of the cordons. A cluster that is selected stays,
// until a drain lets it go.
func (r *Ranking) passCordon(v *judgement, id int32, selected bool) bool {
	c := r.fleet.cordoned(id, r.now)
	if c == nil {
		return true
	}
	if !selected || c.draining() {
		v.expect(c.until, forCordon)
	}
	return selected && !r.drained[id]
}

// whyCordoned says who keeps the cluster from being selected, for how long
// and why.
func (r *Ranking) whyCordoned(id int32) string {
	c := r.fleet.cordoned(id, r.now)
	if c == nil {
		return "the cluster was cordoned"
	}
	return "the cluster is " + c.String()
}

func (c *cordon) String() string {
	text := c.spec.State
	if c.draining() {
		text = "being drained"
	}
	if c.spec.By != "" {
		text += " by " + c.spec.By
	}
	if c.until != never {
		text += " until " + clock(c.until)
	}
	if c.spec.Reason != "" {
		text += fmt.Sprintf(" (%s)", c.spec.Reason)
	}
	return text
}
