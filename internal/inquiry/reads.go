package inquiry

import (
	"slices"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Read is what of a stream a Scene needs.
type Read struct {
	Stream   string
	Subjects []string
}

// Base is what every Scene needs first: the clusters, their sets, and the
// Placement with what the hub shows of its decision.
func (s *Scene) Base() Read {
	return Read{events.StreamHub, []string{
		hubSubjects(events.KindCluster), hubSubjects(events.KindClusterSet),
		"sw.hub." + events.KindBinding + "." + events.EncodeToken(s.Key.Namespace) + ".*",
		events.HubSubject(events.KindPlacement, s.Key.Namespace, s.Key.Name),
		events.HubSubject(events.KindPlacementDecision, s.Key.Namespace, s.Key.Name),
	}}
}

// Reads is what the Scene needs beside, once it has what Base says: the
// scores that its Placement counts, the fleet's policy,
// cordons and its own Rebalance, and what all others
// have selected where that counts.
func (s *Scene) Reads() []Read {
	p := s.Placement()
	if p == nil {
		return nil
	}
	hub, scores := Read{Stream: events.StreamHub}, Read{Stream: events.StreamScores}
	for _, token := range scorerTokens(p.Resources()) {
		scores.Subjects = append(scores.Subjects, "sw.score.*."+token)
		hub.Subjects = append(hub.Subjects, "sw.hub."+events.KindAddOnScore+".*."+token)
	}
	reads := []Read{scores, hub, {events.StreamConfig, []string{
		events.ConfigSubject(events.KindPolicy, "", schemas.DefaultPolicyName),
		"sw.config." + events.KindCordon + ".*.*",
		events.ConfigSubject(events.KindRebalance, s.Key.Namespace, s.Key.Name),
	}}}
	if p.Balances() {
		reads = append(reads,
			Read{events.StreamHub, []string{hubSubjects(events.KindPlacement), hubSubjects(events.KindPlacementDecision)}},
			Read{events.StreamDecisions, []string{"sw.decision." + events.KindPlacement + ".>"}})
	}
	out := reads[:0]
	for _, r := range reads {
		if len(r.Subjects) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// scorerTokens are the last tokens of the subjects of scores, which do not
// overlap: any is all.
func scorerTokens(resources []string) []string {
	if slices.Contains(resources, placement.AnyResource) {
		return []string{"*"}
	}
	var tokens []string
	for _, resource := range resources {
		if token := events.EncodeToken(resource); !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

func hubSubjects(kind string) string { return "sw.hub." + kind + ".>" }

// Matters reports whether the Scene depends on a subject that was lost: the
// scores of a cluster that is not there do not count.
func (s *Scene) Matters(subject string) bool {
	parsed, err := events.ParseSubject(subject)
	switch {
	case err != nil:
		return false
	case parsed.Family == events.FamilyScore:
		return s.Has(parsed.Cluster)
	case parsed.Kind == events.KindAddOnScore:
		return s.Has(parsed.Namespace)
	case parsed.Kind == events.KindCordon:
		return s.Has(parsed.Name)
	}
	return true
}

// Withdrawn reports whether an event is a score with an item that has no
// value. What the value was before may count for a while, so the events
// before it are needed too.
func Withdrawn(r *events.Received) bool {
	p, isScore := r.Payload.(*schemas.Score)
	return isScore && slices.ContainsFunc(p.Items, func(i schemas.ScoreItem) bool { return i.Value == nil })
}

// Tombstone reports whether a message is one. It displaces all that its
// subject held before.
func Tombstone(m events.Message) bool {
	e, err := events.Decode(m)
	return err == nil && schemas.IsDeleted(e.Type())
}
