package cli

import (
	"cmp"
	"maps"
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/brief"
	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func scorersResource() resource[inventory.Scorer] {
	return resource[inventory.Scorer]{
		use:     "scorers",
		short:   "Scorers and DynamicScorers, and how many clusters they score",
		watches: scorerWatches,
		list:    func(s *inventory.State) []inventory.Scorer { return inventory.Scorers(s, s.Now()) },
		is:      isScorer,
		columns: []string{"NAME", "SCORED BY", "VALID FOR", "HEALTH", "SCORED", "FAILING", "REASONS", "MESSAGE"},
		row:     scorerRow,
	}
}

func scorerWatches(name string) ([]events.Watch, error) {
	config, scores := "sw.config."+events.KindScorer+".*.*", "sw.score.*.*"
	if name != "" {
		// A DynamicScorer is found by its own name, whatever its scores' is.
		config = events.ConfigSubject(events.KindScorer, "", name)
	}
	return []events.Watch{
		{Stream: events.StreamConfig, Subjects: []string{config, "sw.config." + events.KindDynamicScorer + ".*.*"}},
		{Stream: events.StreamHub, Subjects: []string{"sw.hub." + events.KindDynamicScorer + ".*.*"}},
		{Stream: events.StreamStatus, Subjects: []string{"sw.status." + events.KindDynamicScorer + ".*.*"}},
		{Stream: events.StreamScores, Subjects: []string{scores}},
	}, nil
}

// isScorer takes the name of the scores, and of a DynamicScorer its own too,
// with or without its namespace.
func isScorer(s *inventory.Scorer, name string) bool {
	return s.Name == name || s.Dynamic != nil && (s.Dynamic.Name == name || s.Dynamic.Path() == name)
}

func scorerRow(s *inventory.Scorer, _ time.Time) []string {
	by, validFor, health, message := "(published by a program of its own)", "", "", ""
	reasons := maps.Clone(s.Reasons)
	switch {
	case s.Spec != nil:
		by, validFor = expression(s.Spec), validity(s.Spec).String()
	case s.SpecError != "":
		by = "(cannot be read: apply it again)"
	case s.Dynamic != nil:
		d := s.Dynamic
		by, health, message = "DynamicScorer "+d.Path(), d.Health, d.Message
		if d.Reason != "" && reasons[d.Reason] == 0 {
			if reasons == nil {
				reasons = map[string]int{}
			}
			reasons[d.Reason] = cmp.Or(d.Failing[d.Reason], d.Clusters)
		}
	}
	return []string{
		s.Name, by, validFor, health, strconv.Itoa(s.Scored), strconv.Itoa(s.Failing), list(brief.Counts(reasons)), message,
	}
}

func validity(spec *schemas.ScorerSpec) time.Duration {
	if spec.ValidFor == nil {
		return score.DefaultValidFor
	}
	return time.Duration(*spec.ValidFor)
}
