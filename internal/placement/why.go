package placement

import (
	"slices"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Explain says what became of one cluster in the last Refresh, in the words
// of the decision's own explanations, which are of a few clusters only.
func (r *Ranking) Explain(name string) schemas.Explanation {
	id, known := r.fleet.ids[name]
	if !known || int(id) >= len(r.verdicts) {
		return schemas.Explanation{Cluster: name, Reason: absent.String(), Message: r.whyRejected(none, absent)}
	}
	switch {
	case r.verdicts[id].reason != eligible:
		return r.explainRejected(id)
	case slices.Contains(r.choice.ids, id):
		return r.explainEligible(id, r.selectedAs(id), r.whyHeld(id))
	}
	return r.explainEligible(id, ExplainedRunnerUp, r.howFar(id))
}

// Rank returns the place of a cluster among the eligible ones, from 1, and
// how many of them there are; 0 where it is not eligible.
func (r *Ranking) Rank(name string) (rank, of int) {
	id, known := r.fleet.ids[name]
	if !known || int(id) >= len(r.verdicts) || r.verdicts[id].reason != eligible {
		return 0, len(r.order)
	}
	i, _ := slices.BinarySearchFunc(r.order, id, r.compare)
	return i + 1, len(r.order)
}

// Selects reports whether the last Refresh selected the cluster.
func (r *Ranking) Selects(name string) bool {
	id, known := r.fleet.ids[name]
	return known && slices.Contains(r.choice.ids, id)
}

// Coordinate names a score that a Placement counts.
type Coordinate struct {
	Resource, Score string
	Weight          int64
}

// Coordinates returns the scores that the Placement counts, each once.
func (p *Placement) Coordinates() []Coordinate {
	var out []Coordinate
	for i := range p.terms {
		t := &p.terms[i]
		if t.kind != kindAddOn {
			continue
		}
		at := slices.IndexFunc(out, func(c Coordinate) bool { return c.Resource == t.resource && c.Score == t.score })
		if at < 0 {
			out = append(out, Coordinate{Resource: t.resource, Score: t.score, Weight: t.weight})
		} else {
			out[at].Weight += t.weight
		}
	}
	return out
}
