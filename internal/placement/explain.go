package placement

import (
	"fmt"
	"strings"
	"time"
	"unique"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Reasons of explanations, beside those of rejections.
const (
	ExplainedSelected = "Selected"
	ExplainedRunnerUp = "RunnerUp"
	// ExplainedHeld: selected only because of flap control, of the grace of an
	// expired score, or because no new decision can be made.
	ExplainedHeld = "Held"
)

// maxExplainedRejected bounds the rejected clusters that have an explanation.
const maxExplainedRejected = 8

// explain has details of the first selected, of the first that were not, and
// of a few that could not be.
func (r *Ranking) explain(m moves) []schemas.Explanation {
	var out []schemas.Explanation
	for _, id := range r.choice.ids[:min(len(r.choice.ids), schemas.MaxExplainedSelected)] {
		out = append(out, r.explainEligible(id, r.selectedAs(id), r.whyHeld(id)))
	}
	runnersUp := 0
	for i := 0; i < len(r.order) && runnersUp < schemas.MaxExplainedRunnerUp; i++ {
		if id := r.order[i]; !m.chosen[id] {
			out = append(out, r.explainEligible(id, ExplainedRunnerUp, r.howFar(id)))
			runnersUp++
		}
	}
	for _, id := range r.examples(m) {
		out = append(out, r.explainRejected(id))
	}
	return out
}

// examples are rejected clusters: first those that were selected before, then
// those that came furthest, by name.
func (r *Ranking) examples(m moves) []int32 {
	var found [reasons][]int32
	var out []int32
	for _, id := range m.removed {
		if v := r.verdicts[id].reason; v != eligible && len(out) < maxExplainedRejected {
			out = append(out, id)
		}
	}
	for _, id := range r.fleet.byName {
		if int(id) >= len(r.verdicts) {
			continue
		}
		reason := r.verdicts[id].reason
		if reason != eligible && reason != absent && len(found[reason]) < maxExplainedRejected && !r.selectedBefore(id) {
			found[reason] = append(found[reason], id)
		}
	}
	for reason := absent; reason > eligible; reason-- {
		out = append(out, found[reason][:min(len(found[reason]), maxExplainedRejected-len(out))]...)
	}
	return out
}

func (r *Ranking) selectedAs(id int32) string {
	if _, held := r.heldBy(id); held || r.choice.stays || r.verdicts[id].held {
		return ExplainedHeld
	}
	return ExplainedSelected
}

func (r *Ranking) whyHeld(id int32) string {
	h, held := r.heldBy(id)
	switch {
	case r.choice.stays:
		return "selected before; stays while no decision can be made"
	case held:
		return r.whyHeldBy(id, h)
	case r.verdicts[id].held:
		return "selected before; its last score is held until " + clock(r.until[id])
	}
	return ""
}

func (r *Ranking) howFar(id int32) string {
	if len(r.choice.ids) == 0 {
		return ""
	}
	last := r.choice.ids[len(r.choice.ids)-1]
	switch gap := r.total(last) - r.total(id); {
	case gap > 0:
		return fmt.Sprintf("%d behind %s, the last selected", gap, r.fleet.names[last])
	case gap == 0:
		return fmt.Sprintf("level with %s, the last selected", r.fleet.names[last])
	default:
		return fmt.Sprintf("%d ahead of %s, the last selected, %s", -gap, r.fleet.names[last], r.whyNotYet(last))
	}
}

// whyNotYet says what keeps a better cluster out.
func (r *Ranking) whyNotYet(last int32) string {
	h, held := r.heldBy(last)
	switch {
	case !held, h.gate == gateDrain:
		return "but spec.spreadPolicy keeps it out"
	case h.until != never:
		return fmt.Sprintf("which stays until %s at least", clock(h.until))
	case h.gate == gateBand:
		return fmt.Sprintf("which the dead band of %d holds", r.policy.deadBand)
	}
	return "which stays while the settings of flap control are wrong"
}

func (r *Ranking) explainEligible(id int32, reason, message string) schemas.Explanation {
	total := r.total(id)
	return schemas.Explanation{
		Cluster: r.fleet.names[id], Reason: reason, Message: message, Score: &total, Prioritizers: r.termScores(id),
	}
}

func (r *Ranking) termScores(id int32) []schemas.PrioritizerScore {
	if r.choice.stays {
		return nil
	}
	out := make([]schemas.PrioritizerScore, 0, len(r.placement.terms))
	for i := range r.placement.terms {
		t := &r.placement.terms[i]
		s := schemas.PrioritizerScore{Name: t.name, Weight: int32(t.weight)}
		switch t.kind {
		case kindSteady:
			s.Score = r.steady(r.selectedBefore(id))
		case kindBalance:
			s.Score = r.balance.score(&r.fleet.counts, id)
		case kindResource:
			s.Score = resourceScore(r.fleet.clusters[id].allocatable[t.amount], r.bounds[t.amount])
		case kindAddOn:
			a := r.addOn(t, id, r.selectedBefore(id))
			s.Score, s.Message = a.value, a.text()
		}
		out = append(out, s)
	}
	return out
}

const heldUntil = ", held until "

// wasHeld reports whether text said so. A scorer's own words may stand before
// it.
func wasHeld(text string) bool {
	at := len(text) - len(heldUntil) - len("2006-01-02T15:04:05Z")
	return at >= 0 && strings.HasPrefix(text[at:], heldUntil)
}

func (s addOnScore) text() string {
	if s.state == scoreFresh {
		return ""
	}
	what := "is missing"
	switch {
	case s.why != unique.Handle[string]{}:
		what = "has no value: " + s.why.Value()
	case s.since != 0:
		what = "expired at " + clock(s.since)
	}
	switch s.state {
	case scoreHeld:
		return what + heldUntil + clock(s.until)
	case scoreWorst:
		return what + ", counted as the worst"
	case scoreZero:
		return what + ", counted as 0"
	}
	return what
}

func (r *Ranking) explainRejected(id int32) schemas.Explanation {
	v := r.verdicts[id]
	return schemas.Explanation{Cluster: r.fleet.names[id], Reason: v.reason.String(), Message: r.whyRejected(id, v.reason)}
}

func (r *Ranking) whyRejected(id int32, why reason) string {
	switch why {
	case notInClusterSet:
		return fmt.Sprintf("in none of the ManagedClusterSets [%s]", join(r.scope.names))
	case terminating:
		return "the ManagedCluster is being deleted"
	case misconfigured:
		return "the Placement is misconfigured"
	case failedExpression:
		return r.opinions.of[id].failure.Value()
	case notMatched:
		return "matches none of the predicates"
	case tainted:
		refused, _ := tolerate(r.fleet.clusters[id].source.Taints, r.placement.Spec.Tolerations, r.selectedBefore(id), r.now)
		return fmt.Sprintf("taint %s is not tolerated", taintText(refused))
	case cordoned:
		return r.whyCordoned(id)
	case staleScore, noScore:
		return r.whyNoScore(id)
	}
	return "the hub has no such ManagedCluster"
}

func (r *Ranking) whyNoScore(id int32) string {
	for i := range r.placement.terms {
		t := &r.placement.terms[i]
		if t.kind != kindAddOn {
			continue
		}
		if a := r.addOn(t, id, r.selectedBefore(id)); !a.state.counts() {
			return fmt.Sprintf("score %s %s", t.name, a.text())
		}
	}
	return ""
}

func clock(unixNano int64) string { return time.Unix(0, unixNano).UTC().Format(time.RFC3339) }
