package inventory

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Scorer is a scorer that was applied, or a program that publishes scores by
// itself.
type Scorer struct {
	Name string `json:"name"`
	// External is true where no Scorer of this name was applied.
	External bool                `json:"external,omitempty"`
	Spec     *schemas.ScorerSpec `json:"spec,omitempty"`
	// SpecError says why there is no Spec where one was applied: it cannot
	// be read.
	SpecError string `json:"specError,omitempty"`
	// Dynamic is the DynamicScorer that the scores come from.
	Dynamic *Dynamic `json:"dynamic,omitempty"`
	// Scored counts the clusters with at least one good item and no bad one,
	// Failing those with a bad one: without a value, or expired.
	Scored  int `json:"scored"`
	Failing int `json:"failing"`
	// Reasons counts the items without a good value by reason.
	Reasons map[string]int `json:"reasons,omitempty"`
}

// ReasonExpired is that of an item whose value holds no longer.
const ReasonExpired = "Expired"

// Scorers lists the scorers of SW_CONFIG, SW_HUB and SW_SCORES at now, sorted
// by name. A DynamicScorer has the name of its scores, or NAMESPACE/NAME where
// it has none.
func Scorers(s *State, now time.Time) []Scorer {
	byName := map[string]*Scorer{}
	for _, e := range Entries[*schemas.Scorer](s, events.FamilyConfig) {
		byName[e.Value.Metadata.Name] = &Scorer{Name: e.Value.Metadata.Name, Spec: &e.Value.Spec}
	}
	for _, bad := range unreadableScorers(s) {
		byName[bad.Name] = &bad
	}
	for _, d := range dynamics(s, now) {
		name := d.scoreName
		if name == "" || byName[name] != nil {
			name = d.Path() // it has no scores of its own
		}
		byName[name] = &Scorer{Name: name, Dynamic: d}
	}
	type pair struct{ scorer, cluster string }
	failing := map[pair]bool{}
	for _, score := range Scores(s) {
		scorer := byName[score.Scorer]
		if scorer == nil {
			scorer = &Scorer{Name: score.Scorer, External: true}
			byName[score.Scorer] = scorer
		}
		key := pair{score.Scorer, score.Cluster}
		failing[key] = failing[key] || !score.Good(now)
		scorer.count(&score, now)
	}
	for key, bad := range failing {
		if bad {
			byName[key.scorer].Failing++
		} else {
			byName[key.scorer].Scored++
		}
	}
	scorers := make([]Scorer, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		scorers = append(scorers, *byName[name])
	}
	return scorers
}

func (s *Scorer) count(score *Score, now time.Time) {
	if score.Good(now) {
		return
	}
	reason := score.Reason
	if score.Value != nil {
		reason = ReasonExpired
	}
	if s.Reasons == nil {
		s.Reasons = map[string]int{}
	}
	s.Reasons[reason]++
}

func unreadableScorers(s *State) []Scorer {
	var scorers []Scorer
	for text, err := range s.bad {
		subject, subjectErr := events.ParseSubject(text)
		if subjectErr == nil && subject.Family == events.FamilyConfig && subject.Kind == events.KindScorer {
			scorers = append(scorers, Scorer{Name: subject.Name, SpecError: err.Error()})
		}
	}
	return scorers
}
