package placement

import (
	"time"
	"unique"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// addOnScore is the value of one AddOn term for one cluster.
type addOnScore struct {
	value int64
	state scoreState
	until int64 // when this answer changes by itself: the first moment of the next
	since int64 // when the score expired, for all states but scoreFresh
	why   unique.Handle[string]
}

type scoreState uint8

const (
	scoreFresh   scoreState = iota
	scoreHeld               // expired, but in its grace
	scoreWorst              // counted as the worst
	scoreZero               // counted as 0
	scoreStale              // expired: the cluster is not eligible
	scoreMissing            // there never was one: ditto
)

func (s scoreState) counts() bool { return s < scoreStale }

// addOn says what the term counts for a cluster with this score, if it has
// one. A score holds up to and including its expiry. What becomes of one that
// is missing or expired is the policy's; none lets it outrank a bad score
// except StaleZero, which is there for who wants OCM's answer.
func (p *stalePolicy) addOn(weight int64, item scoreItem, known, selected bool, now int64) addOnScore {
	if known && now <= item.until {
		return addOnScore{value: int64(item.value), until: following(item.until)}
	}
	out := addOnScore{until: never, since: item.until, why: item.why}
	end := plus(item.until, p.grace)
	if p.policy != StaleZero && known && selected && now < end {
		out.state, out.value, out.until = scoreHeld, int64(item.value), end
		return out
	}
	switch p.policy {
	case StaleWorst:
		out.state, out.value = scoreWorst, worst(weight)
	case StaleZero:
		out.state = scoreZero
	default:
		out.state = scoreStale
		if !known {
			out.state = scoreMissing
		}
	}
	return out
}

// addOn reads the term's score of a cluster. Where it was withdrawn before
// the fleet knew of it, as after a restart, a selected cluster's last number
// stands in the explanation of the prior decision.
func (r *Ranking) addOn(t *term, id int32, selected bool) addOnScore {
	var item scoreItem
	known := false
	if table := r.fleet.scores[t.resource]; table != nil {
		item, known = find(table.of(id), t.score)
	}
	if item.lost {
		item.value, known = r.before.explained[explainedTerm{id, t.name}]
	}
	return r.policy.stale.addOn(t.weight, item, known, selected, r.now)
}

// worst is the score that a term of this weight likes least.
func worst(weight int64) int64 {
	if weight < 0 {
		return schemas.MaxScore
	}
	return schemas.MinScore
}

// plus is t and d, which is not negative, or never where that is beyond it.
func plus(t int64, d time.Duration) int64 {
	if t > never-d.Nanoseconds() {
		return never
	}
	return t + d.Nanoseconds()
}

func following(t int64) int64 {
	if t == never {
		return never
	}
	return t + 1
}
