package schemas

import (
	"fmt"
	"time"
)

// Bounds of what flap control remembers, so that a decision of 10,000
// clusters still fits.
const (
	// MaxFlapClusters bounds the names in Behind, and those in Selected.
	MaxFlapClusters = 512
	MaxFlapMoves    = 64
)

// Flap is what flap control has to remember from one decision to the next.
type Flap struct {
	// Behind are selected clusters that would be dropped if nothing held them,
	// by since when that is so without a break. Of more than MaxFlapClusters,
	// the others wait for their turn.
	Behind []Cohort `json:"behind,omitempty"`
	// Selected are the clusters whose minimum dwell is not over, by when they
	// were selected.
	Selected []Cohort `json:"selected,omitempty"`
	// Others is when the latest of the clusters was selected that Selected has
	// no room for; every one that it does not name counts as selected then.
	Others *time.Time `json:"others,omitempty"`
	// Moves are those that the cooldown and the change budget still count,
	// oldest first; close ones are counted together where there are many.
	Moves []Moves `json:"moves,omitempty"`
}

// Cohort is clusters that share a moment.
type Cohort struct {
	At       time.Time `json:"at"`
	Clusters []string  `json:"clusters"`
}

// Moves is how many clusters were dropped at a moment.
type Moves struct {
	At    time.Time `json:"at"`
	Count int       `json:"count"`
}

func (f *Flap) validate() error {
	for field, cohorts := range map[string][]Cohort{"flap.behind": f.Behind, "flap.selected": f.Selected} {
		n := 0
		for i, c := range cohorts {
			n += len(c.Clusters)
			if len(c.Clusters) == 0 {
				return fieldErrorf(fmt.Sprintf("%s[%d].clusters", field, i), "is empty")
			}
		}
		if n > MaxFlapClusters {
			return fieldErrorf(field, "names %d clusters, at most %d are taken", n, MaxFlapClusters)
		}
	}
	if len(f.Moves) > MaxFlapMoves {
		return fieldErrorf("flap.moves", "has %d entries, at most %d are taken", len(f.Moves), MaxFlapMoves)
	}
	for i, m := range f.Moves {
		if m.Count < 1 {
			return fieldErrorf(fmt.Sprintf("flap.moves[%d].count", i), "is %d, want 1 or more", m.Count)
		}
	}
	return nil
}
