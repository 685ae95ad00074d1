package placement

import "github.com/spokewire/spokewire/pkg/schemas"

// Known is what the hub and the log say of one Placement.
type Known struct {
	// From the hub: the object, where it is there and its spec makes sense;
	// the tombstone, where it was deleted; and what its PlacementDecisions say.
	Object   *Placement
	Deleted  *schemas.Deleted
	Observed *schemas.ObservedDecision
	// From the log: the last decision, nil where there is none or its
	// tombstone, and where it stands.
	Decision *schemas.PlacementDecision
	Sequence uint64
}

// Decides reports whether Spokewire decides the Placement in that mode.
func (k Known) Decides(mode string) bool {
	return k.Object != nil && k.Object.Object.Mode() == mode && !k.Object.Object.Deleting
}

// Prior is what the Placement, which is there, has selected so far: OCM's
// decision or ours. What the hub shows counts only where all of it is this
// very object's: not what an earlier one of the name left behind, or anybody
// else put there. Of OCM's decision it is the newer word: what OCM writes in
// the moment in which the Placement is taken from it is in no decision.
func (k Known) Prior() *Prior {
	uid := k.Object.Object.UID
	decided := k.Decision != nil && k.Decision.Placement.UID == uid
	observed := k.Observed != nil && k.Observed.Placement.UID == uid && len(k.Observed.Clusters) > 0 && scheduled(k.Observed)
	switch {
	case decided && observed && k.Decision.Mode == schemas.ModeNative:
		prior := PriorOf(k.Observed)
		prior.Sequence = k.Sequence
		return prior
	case decided:
		return &Prior{Decision: k.Decision, Sequence: k.Sequence}
	case observed:
		return PriorOf(k.Observed)
	}
	return nil
}

// scheduled reports whether one scheduler wrote all that the hub shows.
func scheduled(o *schemas.ObservedDecision) bool {
	return o.Writer == SchedulerOCM || o.Writer == SchedulerSpokewire
}

// Counts reports whether it is the decision whose clusters count for Balance,
// and not what the hub shows.
func (k Known) Counts() bool {
	switch {
	case k.Decision == nil:
		return false
	case k.Object != nil && k.Object.Object.Mode() == schemas.ModeDirect:
		return true
	}
	return k.Observed == nil && k.Deleted == nil && k.Decision.Mode != schemas.ModeShadow
}

// Selected returns the names of the clusters that count for Balance; nil
// where the Placement has no decision.
func (k Known) Selected() []string {
	switch {
	case k.Counts():
		return SelectedNames(k.Decision)
	case k.Observed != nil:
		names := make([]string, len(k.Observed.Clusters))
		for i, c := range k.Observed.Clusters {
			names[i] = c.Name
		}
		return names
	}
	return nil
}

// Balances reports whether what other Placements have selected counts.
func (p *Placement) Balances() bool {
	for i := range p.terms {
		if p.terms[i].kind == kindBalance {
			return true
		}
	}
	return false
}
