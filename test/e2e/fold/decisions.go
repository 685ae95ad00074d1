package fold

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// decided is one decision and where it stands.
type decided struct {
	events.Message
	*schemas.PlacementDecision
}

// decisions are those of one Placement, oldest first; a tombstone is one
// without content.
func (r Rule) decisions(e Evidence) ([]decided, error) {
	namespace, name, _ := strings.Cut(r.Placement, "/")
	var list []decided
	for _, m := range e[events.StreamDecisions] {
		if m.Subject != events.DecisionSubject(events.KindPlacement, namespace, name) {
			continue
		}
		payload, err := payloadOf(m)
		if err != nil {
			return nil, err
		}
		d, _ := payload.(*schemas.PlacementDecision)
		list = append(list, decided{m, d})
	}
	return list, nil
}

func payloadOf(m events.Message) (schemas.Payload, error) {
	e, err := events.Decode(m)
	if err != nil {
		return nil, err
	}
	return schemas.Decode(e.Type(), e.Data())
}

// Replays checks invariants 4 and 5: each decision of the rule's Placement
// that was made for a time after since is made again, from the scores that the
// log still holds. It returns how many could be made again. Where the log is
// torn, having lost its end and given sequences out again, only those are whose
// scores are for certain the ones that they were made from.
func (r Rule) Replays(e Evidence, since time.Time, torn bool) (int, []Violation) {
	list, err := r.decisions(e)
	if err != nil {
		return 0, []Violation{violates(5, "%s: %v", r.Placement, err)}
	}
	made := 0
	var found []Violation
	for _, d := range list {
		if d.PlacementDecision == nil || !d.Now.After(since) || d.Scheduler != "spokewire" {
			continue
		}
		position := d.Basis[events.StreamScores]
		scores, expired, kept := r.scoresAt(e, position, d.Now)
		if !kept || torn && !e.stoodAt(events.StreamScores, position, d.Now) {
			continue
		}
		made++
		got := selectedNames(d.PlacementDecision)
		if want := r.ranked(scores); !slices.Equal(got, want) {
			found = append(found, r.judge(d, got, want, scores, expired))
		}
	}
	return made, found
}

// judge says which invariant a decision offends that differs from what it
// ought to be: 4 if it rests on what had expired.
func (r Rule) judge(d decided, got, want []string, scores, expired map[string]int32) Violation {
	all := maps.Clone(scores)
	maps.Copy(all, expired)
	what := fmt.Sprintf("decision %d of %s, made for %s from SW_SCORES up to %d, selects %v, but of the scores %v and the expired %v follows %v",
		d.Sequence, r.Placement, d.Now.Format(time.RFC3339Nano), d.Basis[events.StreamScores], got, scores, expired, want)
	if len(expired) > 0 && slices.Equal(got, r.ranked(all)) {
		return violates(4, "%s", what)
	}
	for _, name := range got {
		if _, old := expired[name]; old {
			return violates(4, "%s", what)
		}
	}
	return violates(5, "%s", what)
}

// scoresAt are the rule's scores up to a position of SW_SCORES: those that
// hold at now and those that have expired. kept is false where the log may
// have lost some.
func (r Rule) scoresAt(e Evidence, position uint64, now time.Time) (scores, expired map[string]int32, kept bool) {
	scores, expired = map[string]int32{}, map[string]int32{}
	bySubject := e.bySubject(events.StreamScores)
	for _, cluster := range r.Clusters {
		messages := bySubject[events.ScoreSubject(cluster, r.Scorer)]
		after := slices.IndexFunc(messages, func(m events.Message) bool { return m.Sequence > position })
		if after < 0 {
			after = len(messages)
		}
		if after == 0 {
			if full(events.StreamScores, messages) {
				return nil, nil, false
			}
			continue
		}
		if value, holds := lastScore(readable(messages[:after]), now); value != nil && holds {
			scores[cluster] = *value
		} else if value != nil {
			expired[cluster] = *value
		}
	}
	return scores, expired, true
}

// clockSlack allows for a reader's idea of server time.
const clockSlack = 100 * time.Millisecond

// stoodAt reports whether what the stream holds up to a position stood there
// at a time, for certain, as long as the clock of the bus did not leap. A
// stream that lost its end may not reach that far; the sequences that it gives
// out again are of later events.
func (e Evidence) stoodAt(stream string, position uint64, at time.Time) bool {
	last := uint64(0)
	for _, m := range e[stream] {
		if last = m.Sequence; last <= position && m.ReceivedAt.After(at.Add(clockSlack)) {
			return false
		}
	}
	return last >= position
}

// readable leaves out what cannot be read: the event before it counts.
func readable(messages []events.Message) []events.Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m events.Message) bool {
		_, err := events.Read(m)
		return err != nil
	})
}

// lastScore is what was scored last, and whether that is the last word and
// holds at now.
func lastScore(messages []events.Message, now time.Time) (value *int32, holds bool) {
	for i, m := range slices.Backward(messages) {
		payload, err := payloadOf(m)
		s, isScore := payload.(*schemas.Score)
		if err != nil || !isScore || s.Items[0].Value == nil {
			continue // withdrawn, but what was before it may still be believed
		}
		return s.Items[0].Value, i == len(messages)-1 && !s.Expiry(m.ReceivedAt).Before(now)
	}
	return nil, false
}

func selectedNames(d *schemas.PlacementDecision) []string {
	names := []string{}
	for _, c := range d.Clusters {
		names = append(names, c.Name)
	}
	return names
}

// Linear checks what two replicas and repeated events may never do to a
// Placement's decisions, invariant 3: each names the one before it, and none
// says again what that one said.
func (r Rule) Linear(e Evidence, since time.Time) []Violation {
	list, err := r.decisions(e)
	if err != nil {
		return []Violation{violates(3, "%s: %v", r.Placement, err)}
	}
	var found []Violation
	for i := 1; i < len(list); i++ {
		before, d := list[i-1], list[i]
		if d.PlacementDecision == nil || before.PlacementDecision == nil || !before.ReceivedAt.After(since) {
			continue
		}
		if d.Previous != before.Sequence {
			found = append(found, violates(3, "decision %d of %s says that %d came before it, but %d did", d.Sequence, r.Placement, d.Previous, before.Sequence))
		}
		if cmp.Equal(said(d), said(before)) {
			found = append(found, violates(3, "decision %d of %s says again what %d said", d.Sequence, r.Placement, before.Sequence))
		}
	}
	return found
}

// said is a decision without what is new in every one.
func said(d decided) schemas.PlacementDecision {
	c := *d.PlacementDecision
	c.Basis, c.Now, c.Timers, c.Previous, c.Origin = nil, time.Time{}, nil, 0, nil
	c.Ahead, c.Added, c.Removed, c.Cause, c.Message = nil, nil, nil, "", ""
	return c
}
