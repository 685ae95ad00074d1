package cli

import (
	"strconv"
	"time"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func scorersResource() resource[inventory.Scorer] {
	return resource[inventory.Scorer]{
		use:     "scorers",
		short:   "Scorers, and how many clusters they score",
		watches: scorerWatches,
		list:    func(s *inventory.State) []inventory.Scorer { return inventory.Scorers(s, s.Now()) },
		is:      func(s *inventory.Scorer, name string) bool { return s.Name == name },
		columns: []string{"NAME", "CEL", "VALID FOR", "SCORED", "FAILING", "REASONS"},
		row:     scorerRow,
	}
}

func scorerWatches(name string) ([]events.Watch, error) {
	config, scores := "sw.config."+events.KindScorer+".*.*", "sw.score.*.*"
	if name != "" {
		config, scores = events.ConfigSubject(events.KindScorer, "", name), "sw.score.*."+events.EncodeToken(name)
	}
	return []events.Watch{
		{Stream: events.StreamConfig, Subjects: []string{config}},
		{Stream: events.StreamScores, Subjects: []string{scores}},
	}, nil
}

func scorerRow(s *inventory.Scorer, _ time.Time) []string {
	cel, validFor := "(published by a program of its own)", ""
	switch {
	case s.Spec != nil:
		cel, validFor = expression(s.Spec), validity(s.Spec).String()
	case s.SpecError != "":
		cel = "(cannot be read: apply it again)"
	}
	return []string{s.Name, cel, validFor, strconv.Itoa(s.Scored), strconv.Itoa(s.Failing), list(counts(s.Reasons))}
}

func validity(spec *schemas.ScorerSpec) time.Duration {
	if spec.ValidFor == nil {
		return score.DefaultValidFor
	}
	return time.Duration(*spec.ValidFor)
}
