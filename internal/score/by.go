package score

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// checkBy refuses an item by a label whose values cannot be told.
func (i *item) checkBy() error {
	if i.by == "" {
		return nil
	}
	reads := false
	for _, r := range i.readings {
		_, own := r.labels[i.by]
		reads = reads || !own
		if r.metric == "" || r.computed {
			return errors.New("computes what it reads, so its items by a label cannot be told: write metric names and labels in quotes")
		}
	}
	if !reads {
		return fmt.Errorf("reads no metric by label %q: leave out by, or read one", i.by)
	}
	return nil
}

// each evaluates an item once for every value of its label. Where there are
// too many values none is scored, for those left out would seem to be gone.
func (e *evaluation) each(i *item) {
	r := e.reader()
	values, p := r.valuesOf(i)
	if p != nil {
		e.add(r, Without(i.name, p.reason, p.message))
		return
	}
	e.note(r)
	for _, value := range values {
		of := e.reader()
		of.by, of.value = i.by, value
		e.add(of, i.evaluate(of, i.name+"/"+value))
	}
}

// valuesOf are the values of an item's label among the fresh samples that it
// reads, sorted.
func (r *reader) valuesOf(i *item) ([]string, *problem) {
	found := map[string]struct{}{}
	for _, reading := range i.readings {
		if _, own := reading.labels[i.by]; own {
			continue
		}
		r.fresh(reading.metric, reading.labels, func(_ *Source, s series.Sample) {
			if value, _ := s.Series.Label(i.by); value != "" {
				found[value] = struct{}{}
			}
		})
	}
	switch {
	case len(found) == 0:
		return nil, &problem{schemas.ScoreNoSample, shorten(fmt.Sprintf("no fresh sample of %s has the label %s", i.metrics(), i.by))}
	case len(found) > i.limit:
		return nil, &problem{schemas.ScoreTooManyValues, shorten(fmt.Sprintf(
			"label %s has %d values, at most %d are scored: raise limit (up to %d), or name labels", i.by, len(found), i.limit, schemas.MaxScoreItems))}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// metrics are the names that the item reads, for people.
func (i *item) metrics() string {
	var names []string
	for _, r := range i.readings {
		if !slices.Contains(names, r.metric) {
			names = append(names, r.metric)
		}
	}
	return strings.Join(names, " or ")
}
