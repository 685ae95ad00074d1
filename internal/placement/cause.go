package placement

import (
	"fmt"
	"strings"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Causes of a decision.
const (
	CauseFirst          = "First"
	CauseAdopted        = "Adopted" // OCM decided before
	CauseSpecChanged    = "SpecChanged"
	CauseClusterAdded   = "ClusterAdded"
	CauseClusterRemoved = "ClusterRemoved"
	CauseSetsChanged    = "ClusterSetsChanged" // sets, bindings, or who is in them
	CauseLabelChanged   = "LabelChanged"       // or a claim
	CauseTaintChanged   = "TaintChanged"
	CauseCordonChanged  = "CordonChanged" // or a drain went on
	CauseScoreChanged   = "ScoreChanged"
	CauseScoreExpired   = "ScoreExpired"
	CauseScoreHeld      = "ScoreHeld"
	// CauseMoveHeld: another cluster would take the place of a selected one,
	// and flap control keeps that until the decision's timers.
	CauseMoveHeld  = "MoveHeld"
	CauseRebalance = "Rebalance" // asked for
	CauseCondition = "ConditionChanged"
	CauseDeleted   = "Deleted"
)

// lostBy is the cause for which a cluster with this reason is out.
var lostBy = [reasons]string{
	eligible: CauseScoreChanged, notInClusterSet: CauseSetsChanged, terminating: CauseClusterRemoved,
	misconfigured: CauseSpecChanged, failedExpression: CauseLabelChanged, notMatched: CauseLabelChanged, tainted: CauseTaintChanged, cordoned: CauseCordonChanged,
	staleScore: CauseScoreExpired, noScore: CauseScoreExpired, absent: CauseClusterRemoved,
}

// cause says why the decision differs from the prior one, for programs and
// for people. Where several things happened at once it names the one that
// leaves least choice.
func (r *Ranking) cause(m moves) (cause, message string) {
	switch {
	case r.prior == nil:
		return CauseFirst, fmt.Sprintf("first decision: %d of %d eligible clusters selected%s", len(r.choice.ids), len(r.order), r.example(m.added))
	case r.prior.Decision.Scheduler != SchedulerSpokewire:
		return CauseAdopted, r.adopted() + r.delta(m)
	case len(m.removed) > 0:
		return r.causeOfRemoval(m)
	case r.rebalanced():
		return r.causeOfRebalance(m)
	case len(m.added) > 0:
		return r.causeOfAddition(m)
	case r.respecified():
		return CauseSpecChanged, r.sameBy(r.placement.Object.Generation)
	}
	return r.causeOfRest()
}

func (r *Ranking) adopted() string {
	if r.mode() == schemas.ModeShadow {
		return "Spokewire decides in shadow from now on, from what the hub has"
	}
	return "Spokewire decides from now on, before it was " + r.prior.Decision.Scheduler
}

func (r *Ranking) sameBy(generation int64) string {
	if r.choice.stays {
		return fmt.Sprintf("generation %d cannot be decided, so the last decision stays", generation)
	}
	if len(r.choice.ids) == 0 {
		return fmt.Sprintf("generation %d selects no cluster, as the one before", generation)
	}
	return fmt.Sprintf("generation %d selects the same clusters", generation)
}

func (r *Ranking) respecified() bool {
	return r.prior.Decision.Placement.Generation != r.placement.Object.Generation
}

// causeOfRemoval looks for a removed cluster that is no longer eligible; only
// if there is none was it a comparison.
func (r *Ranking) causeOfRemoval(m moves) (string, string) {
	for _, id := range m.removed {
		why := r.verdicts[id].reason
		if why == eligible {
			continue
		}
		cause := lostBy[why]
		if (why == notMatched || why == failedExpression) && r.respecified() {
			cause = CauseSpecChanged
		}
		return cause, fmt.Sprintf("%s is out%s: %s%s", r.fleet.names[id], r.atOnce(why), r.whyRejected(id, why), r.delta(m))
	}
	if r.respecified() || len(m.added) == 0 {
		return CauseSpecChanged, fmt.Sprintf("generation %d of the Placement%s", r.placement.Object.Generation, r.delta(m))
	}
	if r.rebalanced() {
		return r.causeOfRebalance(m)
	}
	for _, id := range m.removed {
		if r.verdicts[id].late {
			return CauseScoreExpired, fmt.Sprintf("%s is out%s: its score is late%s", r.fleet.names[id], r.atOnce(eligible), r.delta(m))
		}
	}
	return CauseScoreChanged, r.overtook(m)
}

// atOnce says that flap control does not hold against facts. A drain is
// none.
func (r *Ranking) atOnce(why reason) string {
	if r.policy.controls() && why != cordoned {
		return " at once, as a fact"
	}
	return ""
}

func (r *Ranking) overtook(m moves) string {
	in, out := m.added[0], m.removed[0]
	text := fmt.Sprintf("%s overtook %s", r.withTotal(in), r.withTotal(out))
	if r.total(in) == r.total(out) {
		text = fmt.Sprintf("%s comes before %s by name", r.withTotal(in), r.withTotal(out))
	}
	if since, waited := r.before.behind[out]; waited {
		text += fmt.Sprintf(", which was behind since %s", clock(since))
	}
	if more := len(m.added) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more moved", more)
	}
	return text
}

// causeOfAddition has no cluster to ask what it was before, so it compares
// the numbers of those rejected.
func (r *Ranking) causeOfAddition(m moves) (string, string) {
	d := r.prior.Decision
	fewer := func(why reason) bool { return r.counts[why] < d.Rejected[why.String()] }
	cause := CauseClusterAdded
	switch {
	case r.respecified():
		cause = CauseSpecChanged
	case r.considered() > d.Considered:
	case fewer(tainted):
		cause = CauseTaintChanged
	case fewer(cordoned):
		cause = CauseCordonChanged
	case fewer(notMatched), fewer(failedExpression):
		cause = CauseLabelChanged
	case fewer(notInClusterSet):
		cause = CauseSetsChanged
	case fewer(noScore), fewer(staleScore):
		cause = CauseScoreChanged
	}
	return cause, strings.TrimPrefix(r.delta(m), "; ")
}

// causeOfRest is for decisions that select the same clusters as before.
func (r *Ranking) causeOfRest() (string, string) {
	if text := r.rebalanceEnded(); text != "" {
		return CauseRebalance, text
	}
	for _, id := range r.choice.ids {
		if r.verdicts[id].held {
			return CauseScoreHeld, fmt.Sprintf("%s stays: %s", r.fleet.names[id], r.whyHeld(id))
		}
	}
	if !r.sameBehind() {
		return r.causeOfWait()
	}
	if id := r.newlyDraining(); id != none {
		return CauseMoveHeld, fmt.Sprintf("%s: %s", r.withTotal(id), r.whyHeld(id))
	}
	if changedConditions(r.prior.Decision.Conditions, r.choice.conditions[:]) != Same {
		return CauseCondition, r.choice.conditions[0].Message
	}
	if len(r.choice.ids) > 0 && len(r.before.ids) > 0 && r.choice.ids[0] != r.before.ids[0] {
		return CauseScoreChanged, fmt.Sprintf("%s is now first, before %s", r.withTotal(r.choice.ids[0]), r.withTotal(r.before.ids[0]))
	}
	if was, is := r.prior.Decision.Rejected[cordoned.String()], r.counts[cordoned]; was != is {
		return CauseCordonChanged, fmt.Sprintf("%d clusters are cordoned, before it were %d", is, was)
	}
	return CauseScoreChanged, "the same clusters with other scores"
}

// causeOfWait is for decisions that say who is behind now, or is not any
// more.
func (r *Ranking) causeOfWait() (string, string) {
	for _, id := range r.choice.ids {
		if h, held := r.heldBy(id); held && r.control.behind[id] != r.before.behind[id] {
			return CauseMoveHeld, fmt.Sprintf("%s: %s", r.withTotal(id), r.whyHeldBy(id, h))
		}
	}
	return CauseScoreChanged, "those who were behind are no longer"
}

func (r *Ranking) withTotal(id int32) string {
	return fmt.Sprintf("%s (%d)", r.fleet.names[id], r.total(id))
}

// delta names those that came in and went out.
func (r *Ranking) delta(m moves) string {
	text := ""
	if len(m.added) > 0 {
		text += "; in: " + r.firstOf(m.added)
	}
	if len(m.removed) > 0 {
		text += "; out: " + r.firstOf(m.removed)
	}
	return text
}

func (r *Ranking) example(added []int32) string {
	if len(added) == 0 {
		return ""
	}
	return ": " + r.firstOf(added)
}

const maxNamed = 3

func (r *Ranking) firstOf(ids []int32) string {
	var parts []string
	for _, id := range ids[:min(len(ids), maxNamed)] {
		if r.verdicts[id].reason == eligible {
			parts = append(parts, r.withTotal(id))
		} else {
			parts = append(parts, r.fleet.names[id])
		}
	}
	text := join(parts)
	if more := len(ids) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
