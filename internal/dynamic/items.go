package dynamic

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Answered says where an answer's data stood, for the inputs of a score.
type Answered struct {
	// URL is who answered.
	URL string
	// Input, if set, is what the data was read from.
	Input *schemas.ScoreInput
}

// Items makes items of the results for one cluster. Results of one name are
// averaged, those without a number left out of it; an item of which none has
// a number has no value. It is a Failure where there is no item at all, or
// there are more than a score has.
func (s *Scorer) Items(cluster string, results []Result, by Answered) ([]score.Item, *Failure) {
	groups := map[string][]*Result{}
	for i := range results {
		name := cut(itemName(s.Format, cluster, s.ScoreName, results[i].Metric), maxItemName)
		if name != "" {
			groups[name] = append(groups[name], &results[i])
		}
	}
	switch {
	case len(results) == 0:
		return nil, Failf(NoResult, "the answer has no result")
	case len(groups) == 0:
		return nil, Failf(NoDimension, "scoreDimensionFormat %q gives no name to any of %d results, the first of which has %s", s.Format, len(results), series(results[0].Metric))
	case len(groups) > schemas.MaxScoreItems:
		return nil, Failf(TooManyResults, "%d results make %d items by scoreDimensionFormat %q, at most %d are taken: let it name fewer labels",
			len(results), len(groups), s.Format, schemas.MaxScoreItems)
	}
	items := make([]score.Item, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		items = append(items, item(name, groups[name], by))
	}
	return items, nil
}

func item(name string, group []*Result, by Answered) score.Item {
	var mean, n float64
	var problem *Failure
	for _, r := range group {
		if r.Problem != nil {
			problem = r.Problem
			continue
		}
		n++
		mean = mean*((n-1)/n) + r.Score/n // does not overflow
	}
	if n == 0 {
		return score.Without(name, problem.Reason, problem.Message)
	}
	out := score.Computed(name, mean)
	if n > 1 && out.Message == "" {
		out.Message = "the average of " + strconv.Itoa(int(n)) + " results"
	}
	out.Inputs = inputs(group, by)
	return out
}

// inputs shows the results, and what their data was read from.
func inputs(group []*Result, by Answered) []schemas.ScoreInput {
	var out []schemas.ScoreInput
	for _, r := range group {
		if len(out) == score.MaxInputs-1 {
			break
		}
		if r.Problem == nil {
			out = append(out, schemas.ScoreInput{Kind: "answer", Name: series(r.Metric), Value: strconv.FormatFloat(r.Score, 'g', -1, 64)})
		}
	}
	if by.Input != nil {
		return append(out, *by.Input)
	}
	return append(out, schemas.ScoreInput{Kind: "api", Name: by.URL, Value: ""})
}

// series writes labels as Prometheus does.
func series(metric map[string]string) string {
	if len(metric) == 0 {
		return "{}"
	}
	sample := schemas.Sample{Labels: metric}
	return sample.Series()
}

// For keeps the results that are for a cluster, of an answer that was given
// to all of them at once: those with a label cluster are for the cluster of
// that name, and where there are none, all are.
func For(cluster string, results []Result) ([]Result, *Failure) {
	var own []Result
	named := 0
	for _, r := range results {
		name, ok := r.Metric["cluster"]
		if ok {
			named++
		}
		if !ok || name == cluster {
			own = append(own, r)
		}
	}
	if named > 0 && len(own) == 0 {
		return nil, Failf(NoResult, "the answer names clusters, but not %s", cluster)
	}
	return own, nil
}
