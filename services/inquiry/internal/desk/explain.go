package desk

import (
	"context"
	"slices"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
)

// Explain says why a decision did, or did not, select a cluster: from the
// decision alone where it details the cluster, else from its inputs, which
// also say what would have to change.
func (d *Desk) Explain(ctx context.Context, q *schemas.ExplainAsk) (*schemas.ExplainAnswer, error) {
	decision, err := d.archive.Decision(ctx, placement.Key{Namespace: q.Namespace, Name: q.Name}, q.Sequence)
	if err != nil {
		return nil, err
	}
	a := &schemas.ExplainAnswer{Decision: decision.Ref(), Explanation: detail(decision, q.Cluster)}
	selected := slices.ContainsFunc(decision.Clusters, func(c schemas.SelectedCluster) bool { return c.Name == q.Cluster })
	switch {
	case !inquiry.Ours(decision.PlacementDecision):
		a.Verdict = schemas.ReplayNotOurs
		return a, nil
	case selected && a.Explanation != nil:
		return a, nil
	}
	return a, d.recompute(ctx, q, decision, a, selected)
}

func detail(d *archive.Decision, cluster string) *schemas.Explanation {
	for i := range d.Explanations {
		if d.Explanations[i].Cluster == cluster {
			return &d.Explanations[i]
		}
	}
	return nil
}

func (d *Desk) recompute(ctx context.Context, q *schemas.ExplainAsk, decision *archive.Decision, a *schemas.ExplainAnswer, selected bool) error {
	replayed := &schemas.ReplayAnswer{}
	found, err := d.again(ctx, decision, replayed)
	if err != nil {
		return err
	}
	a.Verdict, a.Expired = replayed.Verdict, replayed.Expired
	if found == nil {
		return nil
	}
	explanation, rank, of := found.Explain(q.Cluster)
	a.Rank, a.Eligible = rank, of
	if a.Explanation == nil {
		a.Explanation, a.Recomputed = &explanation, true
	}
	if !selected {
		a.Changes, a.Sufficient = found.Changes(q.Cluster)
	}
	return nil
}
