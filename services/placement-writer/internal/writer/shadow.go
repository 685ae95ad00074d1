package writer

import (
	"github.com/spokewire/spokewire/internal/placement"
)

// Verdicts on a decision in shadow.
const (
	shadowAgrees    = "agrees"
	shadowDiffers   = "differs"
	shadowUndecided = "undecided" // by OCM or by us
)

// standing is how a decision in shadow compares with what the hub has: the
// verdict, empty for a desk that decides nothing in shadow, and how many
// clusters both select, or only one.
type standing struct {
	verdict              string
	both, ocm, spokewire int
}

func (d *desk) standsBeside() standing {
	switch {
	case !d.decides():
		return standing{}
	case d.decision == nil || d.observed == nil:
		return standing{verdict: shadowUndecided}
	}
	names := make([]string, len(d.observed.Clusters))
	for i, c := range d.observed.Clusters {
		names[i] = c.Name
	}
	a := placement.Agree(names, placement.SelectedNames(d.decision))
	s := standing{shadowAgrees, len(a.Both), len(a.OnlyOCM), len(a.OnlySpokewire)}
	if !a.Full() {
		s.verdict = shadowDiffers
	}
	return s
}

// compare brings the standing of a desk in shadow up to date.
func (w *Writer) compare(d *desk) {
	w.shadows.add(d.standing, -1)
	d.standing = d.standsBeside()
	w.shadows.add(d.standing, 1)
}

// shadows is what /metrics tells of all Placements in shadow.
type shadows struct {
	desks    int // also those that have only the end of a shadow to say
	verdicts map[string]int
	clusters map[string]int // by who selects them
}

func newShadows() shadows {
	return shadows{
		verdicts: map[string]int{shadowAgrees: 0, shadowDiffers: 0, shadowUndecided: 0},
		clusters: map[string]int{"both": 0, "ocm": 0, "spokewire": 0},
	}
}

func (s *shadows) add(at standing, sign int) {
	if at.verdict == "" {
		return
	}
	s.verdicts[at.verdict] += sign
	s.clusters["both"] += sign * at.both
	s.clusters["ocm"] += sign * at.ocm
	s.clusters["spokewire"] += sign * at.spokewire
}
