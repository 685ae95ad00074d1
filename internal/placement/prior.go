package placement

import (
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Prior is the last decision of a Placement in the log.
type Prior struct {
	Decision *schemas.PlacementDecision
	Sequence uint64
}

// Scheduler names of a decision.
const (
	SchedulerSpokewire = "spokewire"
	SchedulerOCM       = "ocm"
)

// PriorOf makes a Prior of what the hub shows of a Placement that has no
// decision in the log, so that its clusters count as selected. It has no
// sequence.
func PriorOf(o *schemas.ObservedDecision) *Prior {
	d := &schemas.PlacementDecision{
		Placement: o.Placement, Mode: schemas.ModeNative, Scheduler: SchedulerOCM,
		Clusters: make([]schemas.SelectedCluster, len(o.Clusters)),
	}
	for i, c := range o.Clusters {
		d.Clusters[i] = schemas.SelectedCluster{Name: c.Name, Group: c.Group}
	}
	return &Prior{Decision: d}
}

// before is the prior decision by cluster numbers.
type before struct {
	ids      []int32 // in its order
	position []int32 // in ids, by cluster number; none where it is not selected
	flipped  []int32 // came in or went out since the last Refresh
	// explained is what the AddOn terms counted for the clusters that the
	// decision explains.
	explained map[explainedTerm]int32
	memory
}

type explainedTerm struct {
	id   int32
	name string
}

const none = -1

// SetPrior replaces the prior decision. The next Refresh looks at the
// clusters that came in or went out by it.
func (r *Ranking) SetPrior(prior *Prior) {
	b := &r.before
	for _, id := range b.ids {
		b.position[id] = none
		b.flipped = append(b.flipped, id)
	}
	r.prior, b.ids, b.explained, b.memory = prior, b.ids[:0], nil, memory{}
	if prior == nil {
		return
	}
	for i, c := range prior.Decision.Clusters {
		id := r.fleet.id(c.Name)
		for int(id) >= len(b.position) {
			b.position = append(b.position, none)
		}
		b.ids = append(b.ids, id)
		b.position[id] = int32(i)
		b.flipped = append(b.flipped, id)
	}
	b.explained = r.explainedTerms(prior.Decision.Explanations)
	b.memory = r.recall(prior.Decision.Flap)
}

func (r *Ranking) explainedTerms(all []schemas.Explanation) map[explainedTerm]int32 {
	out := map[explainedTerm]int32{}
	for _, e := range all {
		if e.Reason != ExplainedSelected && e.Reason != ExplainedHeld {
			continue
		}
		for _, p := range e.Prioritizers {
			if fresh := p.Message == ""; fresh || wasHeld(p.Message) {
				out[explainedTerm{r.fleet.id(e.Cluster), p.Name}] = int32(p.Score)
			}
		}
	}
	return out
}

func (r *Ranking) selectedBefore(id int32) bool { return r.positionBefore(id) != none }

func (r *Ranking) positionBefore(id int32) int32 {
	if int(id) < len(r.before.position) {
		return r.before.position[id]
	}
	return none
}
