package desk

import (
	"context"
	"time"

	"github.com/spokewire/spokewire/internal/inquiry"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/inquiry/internal/archive"
)

// Replay makes a decision again from its inputs.
func (d *Desk) Replay(ctx context.Context, q *schemas.ReplayAsk) (*schemas.ReplayAnswer, error) {
	decision, err := d.archive.Decision(ctx, placement.Key{Namespace: q.Namespace, Name: q.Name}, q.Sequence)
	if err != nil {
		return nil, err
	}
	return d.replay(ctx, decision)
}

func (d *Desk) replay(ctx context.Context, decision *archive.Decision) (*schemas.ReplayAnswer, error) {
	a := &schemas.ReplayAnswer{Decision: decision.Ref(), Verdict: schemas.ReplayNotOurs}
	if !inquiry.Ours(decision.PlacementDecision) {
		return a, nil
	}
	_, err := d.again(ctx, decision, a)
	return a, err
}

// again makes the decision from its inputs, and says in a how that went. The
// Scene is nil where inputs are lost.
//
// What a score was before it was withdrawn is known to a service that has
// followed it, and not to one that has started since: the decision is right
// if it follows from either.
func (d *Desk) again(ctx context.Context, decision *archive.Decision, a *schemas.ReplayAnswer) (*archive.Found, error) {
	found, err := d.try(ctx, decision, false, a)
	if err != nil || found == nil || a.Verdict == schemas.ReplayEqual || !found.Withdrawn {
		return found, err
	}
	started := &schemas.ReplayAnswer{Decision: a.Decision}
	other, err := d.try(ctx, decision, true, started)
	if err != nil || started.Verdict != schemas.ReplayEqual {
		return found, err
	}
	*a = *started
	return other, nil
}

func (d *Desk) try(ctx context.Context, decision *archive.Decision, shallow bool, a *schemas.ReplayAnswer) (*archive.Found, error) {
	found, err := d.archive.Then(ctx, decision.PlacementDecision, shallow)
	if err != nil {
		return nil, err
	}
	if len(found.Lost) > 0 {
		a.Verdict, a.Expired = schemas.ReplayExpired, found.Lost
		return nil, nil
	}
	made := found.Decide()
	a.Differences = inquiry.Compare(decision.PlacementDecision, &made)
	switch {
	case len(a.Differences) == 0:
		a.Verdict = schemas.ReplayEqual
	case len(found.Outrun) > 0:
		a.Verdict, a.Differences, a.Expired = schemas.ReplayExpired, nil, found.Outrun
	default:
		a.Verdict = schemas.ReplayDifferent
	}
	return found, nil
}

// auditTime is how long one audit goes on before it asks to be asked again.
const auditTime = 10 * time.Second

// Audit makes all decisions of a period again.
func (d *Desk) Audit(ctx context.Context, q *schemas.AuditAsk) (*schemas.AuditAnswer, error) {
	if !q.To.IsZero() && q.To.Before(q.From) {
		return nil, events.Refusef(events.RefusedBad, "to", "is before from")
	}
	began, n := time.Now(), 0
	a := &schemas.AuditAnswer{Counts: map[string]int{}}
	last := *q
	err := d.archive.Decisions(ctx, q, func(decision *archive.Decision) (bool, error) {
		if n == schemas.MaxAudited || n > 0 && time.Since(began) > auditTime {
			a.Next = &last
			return false, nil
		}
		result, err := d.replay(ctx, decision)
		if err != nil {
			return false, err
		}
		n++
		last.After, last.From = decision.Sequence, decision.ReceivedAt
		a.Counts[result.Verdict]++
		if result.Verdict != schemas.ReplayEqual && result.Verdict != schemas.ReplayNotOurs {
			a.Results = append(a.Results, bounded(result))
		}
		return true, nil
	})
	return a, err
}

// bounded keeps an audit's answer below what a message carries: of each
// result the first differences.
func bounded(r *schemas.ReplayAnswer) schemas.ReplayAnswer {
	const most = 4
	out := *r
	out.Differences = out.Differences[:min(len(out.Differences), most)]
	out.Expired = out.Expired[:min(len(out.Expired), most)]
	return out
}
