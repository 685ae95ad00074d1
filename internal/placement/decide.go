package placement

import (
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Input is what the decision of one Placement is made from.
type Input struct {
	Placement *Placement
	Fleet     *Fleet
	// Prior is the Placement's last decision, nil if there is none. One for
	// an object with another UID is none.
	Prior *Prior
}

// Decide makes the decision of one Placement for the moment now. The same
// input and the same now give the same decision.
func Decide(in Input, now time.Time) schemas.PlacementDecision {
	prior := in.Prior
	if prior != nil && prior.Decision.Placement.UID != in.Placement.Object.UID {
		prior = nil
	}
	r := NewRanking(in.Placement, in.Fleet, prior)
	r.Refresh(now)
	return r.Decision()
}

// maxMoves bounds the names in Added and in Removed, so that the first
// decision of a Placement that selects 10,000 clusters is not twice as large.
const maxMoves = 1000

// Decision writes out what the last Refresh chose.
func (r *Ranking) Decision() schemas.PlacementDecision {
	d := schemas.PlacementDecision{
		Placement:  r.ref(),
		Mode:       r.mode(),
		Scheduler:  SchedulerSpokewire,
		Clusters:   make([]schemas.SelectedCluster, len(r.choice.ids)),
		Groups:     append([]schemas.DecisionGroup(nil), r.choice.list...),
		Conditions: append([]schemas.Condition(nil), r.choice.conditions[:]...),
		Basis:      r.fleet.Basis(),
		Now:        time.Unix(0, r.now).UTC(),
		Timers:     r.timers(),
		Considered: r.considered(),
		Rejected:   r.rejected(),
	}
	for i, id := range r.choice.ids {
		d.Clusters[i] = schemas.SelectedCluster{Name: r.fleet.names[id], Score: r.total(id), Group: r.choice.groups[i]}
	}
	if r.prior != nil {
		d.Previous = r.prior.Sequence
	}
	m := r.moves()
	d.Added, d.Removed = r.namesOf(cut(m.added)), r.namesOf(cut(m.removed))
	d.Cause, d.Message = r.cause(m)
	d.Explanations = r.explain(m)
	d.Flap = r.remember(m)
	d.Rebalance = r.rebalanceState()
	return d
}

func (r *Ranking) ref() schemas.PlacementRef {
	o := &r.placement.Object
	return schemas.PlacementRef{Namespace: o.Namespace, Name: o.Name, UID: o.UID, Generation: o.Generation}
}

// mode is shadow for a Placement in shadow. Any other is decided as one that
// Spokewire decides, whoever does.
func (r *Ranking) mode() string {
	if r.placement.Object.Mode() == schemas.ModeShadow {
		return schemas.ModeShadow
	}
	return schemas.ModeDirect
}

func (r *Ranking) considered() int { return len(r.verdicts) - r.counts[absent] }

func (r *Ranking) rejected() map[string]int {
	out := map[string]int{}
	for reason := notInClusterSet; reason < absent; reason++ {
		if n := r.counts[reason]; n > 0 {
			out[reason.String()] = n
		}
	}
	return out
}

// timers is the first moment of each kind at which a verdict changes.
func (r *Ranking) timers() map[string]time.Time {
	var first [waits]int64
	for w := range first {
		first[w] = never
	}
	for id := range r.verdicts {
		w := r.verdicts[id].wait
		first[w] = min(first[w], r.until[id])
	}
	out := map[string]time.Time{}
	for w, t := range first {
		if t != never {
			out[waitNames[w]] = time.Unix(0, t).UTC()
		}
	}
	for g, t := range r.control.first {
		if t != never {
			out[gateNames[g]] = timeAt(t)
		}
	}
	if state := r.rebalanceState(); state != nil && state.Remaining > 0 && r.request.until != never {
		out[rebalanceTimer] = timeAt(r.request.until)
	}
	return out
}

// moves is who came in and who went out.
type moves struct {
	added, removed []int32 // in the order of this and of the prior decision
	chosen         []bool  // by cluster number
}

func (r *Ranking) moves() moves {
	m := moves{chosen: make([]bool, len(r.fleet.names))}
	for _, id := range r.choice.ids {
		m.chosen[id] = true
		if !r.selectedBefore(id) {
			m.added = append(m.added, id)
		}
	}
	for _, id := range r.before.ids {
		if !m.chosen[id] {
			m.removed = append(m.removed, id)
		}
	}
	return m
}

func cut(ids []int32) []int32 { return ids[:min(len(ids), maxMoves)] }

func (r *Ranking) namesOf(ids []int32) []string {
	var names []string
	for _, id := range ids {
		names = append(names, r.fleet.names[id])
	}
	return names
}
