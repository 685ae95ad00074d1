package desk

import (
	"context"
	"slices"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
)

// WhatIf says what would be decided now, if.
func (d *Desk) WhatIf(ctx context.Context, q *schemas.WhatIfAsk) (*schemas.WhatIfAnswer, error) {
	key := placement.Key{Namespace: q.Namespace, Name: q.Name}
	found, err := d.archive.Today(ctx, key, func(s *inquiry.Scene) error { return s.SupposePlacement(q.Placement) })
	if err != nil {
		return nil, err
	}
	if err := found.Suppose(q); err != nil {
		return nil, err
	}
	a := &schemas.WhatIfAnswer{Basis: found.Basis}
	if len(q.Metrics) > 0 {
		if a.Scores, err = d.supposeMetrics(ctx, found, q.Metrics); err != nil {
			return nil, err
		}
	}
	if err := found.SupposeScores(q.Scores); err != nil {
		return nil, err
	}
	a.Decision = found.Decide()
	compare(a, found)
	return a, nil
}

func (d *Desk) supposeMetrics(ctx context.Context, found *archive.Found, list []schemas.WhatIfMetric) ([]schemas.WhatIfScore, error) {
	var clusters []string
	for _, m := range list {
		clusters = append(clusters, m.Cluster)
	}
	slices.Sort(clusters)
	scorers := found.Placement().Resources()
	slices.Sort(scorers)
	metrics, err := d.archive.Metrics(ctx, d.compiler, slices.Compact(scorers), slices.Compact(clusters))
	if err != nil {
		return nil, err
	}
	return found.Score(metrics, list)
}

// compare says how the decision differs from the last one in the log. What
// it says of itself, such as its cause, is no difference.
func compare(a *schemas.WhatIfAnswer, found *archive.Found) {
	last, sequence := found.Last()
	if last == nil {
		a.Added = placement.SelectedNames(&a.Decision)
		return
	}
	a.Today = &schemas.DecisionRef{Namespace: found.Key.Namespace, Name: found.Key.Name, Sequence: sequence, Now: last.Now}
	before, after := placement.SelectedNames(last), placement.SelectedNames(&a.Decision)
	a.Added, a.Removed = without(after, before), without(before, after)
	for _, difference := range inquiry.Compare(last, &a.Decision) {
		switch difference.Field {
		case "cause", "message", "added", "removed", "timers", "placement", "rebalance":
		default:
			a.Differences = append(a.Differences, difference)
		}
	}
}

// without returns those of names that are not in others.
func without(names, others []string) []string {
	in := make(map[string]bool, len(others))
	for _, name := range others {
		in[name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return in[name] })
}
