package placement

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// What to do with a cluster that lacks a score which the Placement counts,
// or whose score has expired and whose grace, which a selected cluster has,
// is over.
const (
	// StaleHold makes the cluster ineligible, after 30s unless another grace
	// is asked for.
	StaleHold = "hold"
	// StaleExclude makes the cluster ineligible, at once unless a grace is
	// asked for.
	StaleExclude = "exclude"
	// StaleWorst counts the worst score there is, at once unless a grace is
	// asked for.
	StaleWorst = "worst"
	// StaleZero counts 0 at once, which is what OCM does.
	StaleZero = "zero"
)

const defaultStaleGrace = 30 * time.Second

type stalePolicy struct {
	policy string
	grace  time.Duration
}

// policy is the settings in force for one Placement.
type policy struct {
	stale                   stalePolicy
	deadBand                int64
	decisive                int64 // 0 is off
	window, cooldown, dwell time.Duration
	budget                  int // 0 is off
	interval                time.Duration
	// wrong is why the settings cannot be in force. Then whatever is selected
	// stays, unless a fact is against it.
	wrong error
}

// SetPolicy says what the fleet's Placements go by that do not say otherwise;
// nil is nothing.
func (f *Fleet) SetPolicy(p *schemas.PlacementPolicySpec) {
	f.policy = schemas.PlacementPolicySpec{}
	if p != nil {
		f.policy = *p
	}
	f.policies++
	f.version++
}

// CheckPolicy returns what is wrong with settings that contradict each other.
func CheckPolicy(p *schemas.PlacementPolicySpec) error {
	return resolve(*p, schemas.PlacementPolicySpec{}, nil).wrong
}

// resolve puts the Placement's own settings over those of the fleet.
func resolve(fleet, own schemas.PlacementPolicySpec, unreadable error) policy {
	p := policy{
		deadBand: *cmp.Or(own.DeadBand, fleet.DeadBand, new(int64)),
		decisive: *cmp.Or(own.DecisiveLead, fleet.DecisiveLead, new(int64)),
		window:   timeOf(own.StabilisationWindow, fleet.StabilisationWindow),
		cooldown: timeOf(own.Cooldown, fleet.Cooldown),
		dwell:    timeOf(own.MinimumDwell, fleet.MinimumDwell),
		wrong:    unreadable,
	}
	budget := *cmp.Or(own.ChangeBudget, fleet.ChangeBudget, new(schemas.ChangeBudget))
	p.budget, p.interval = budget.Moves, time.Duration(budget.Interval)
	p.stale.policy = cmp.Or(own.StalePolicy, fleet.StalePolicy, StaleHold)
	var usual schemas.Duration
	if p.stale.policy == StaleHold {
		usual = schemas.Duration(defaultStaleGrace)
	}
	p.stale.grace = timeOf(own.StaleGrace, fleet.StaleGrace, &usual)
	if p.wrong == nil {
		p.wrong = p.contradiction()
	}
	return p
}

func timeOf(first ...*schemas.Duration) time.Duration {
	return time.Duration(*cmp.Or(cmp.Or(first...), new(schemas.Duration)))
}

// contradiction returns why no change could ever meet all of the settings.
func (p *policy) contradiction() error {
	if p.decisive > 0 && p.decisive <= p.deadBand {
		return fmt.Errorf("%s (or decisiveLead of the PlacementPolicy) is %d and %s (or deadBand) is %d: "+
			"write a decisive lead of more than the dead band, or 0 for none", AnnotationDecisiveLead, p.decisive, AnnotationDeadBand, p.deadBand)
	}
	return nil
}

// controls reports whether anything may keep a selected cluster in spite of a
// challenger's lead.
func (p *policy) controls() bool {
	return p.deadBand > 0 || p.window > 0 || p.cooldown > 0 || p.dwell > 0 || p.budget > 0 || p.wrong != nil
}

// band is by how much more than that a challenger must lead.
func (p *policy) band() int64 {
	if p.wrong != nil {
		return never
	}
	return p.deadBand
}
