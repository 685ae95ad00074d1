package scores

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
)

// settle writes the score, within the budget, until the plan was made from
// the hub's newest state.
func (a *Applier) settle(ctx context.Context, entry *Entry, read *Kept, s events.Subject, action bridge.ScoreAction) (time.Duration, error) {
	if err := a.wait(ctx, action); err != nil {
		return 0, err
	}
	ctx, span := a.Tracer.Start(events.Extract(ctx, read.event()), "bridge.apply", trace.WithAttributes(
		attribute.String("spokewire.subject", entry.Subject), attribute.Int64("spokewire.sequence", int64(entry.Sequence)))) //nolint:gosec // a sequence fits
	defer span.End()
	for try := 1; ; try++ {
		if !a.Ledger.Last(entry) {
			return 0, nil // the newer one is in the queue
		}
		have, plan := a.plan(read, s)
		err := a.write(ctx, s, have, plan)
		if err == nil {
			a.settled(entry.Subject)
			return a.until(plan.Again), nil
		}
		if kube.NoNamespace(err) || kube.Refusal(err) != nil || !kube.Stale(err) || try == maxTries {
			span.SetStatus(codes.Error, err.Error())
			return 0, a.failed(ctx, entry, read, s, err)
		}
		if err := a.Hub.RefreshScore(ctx, s.Cluster, s.Name); err != nil {
			return 0, err
		}
	}
}

func (a *Applier) write(ctx context.Context, s events.Subject, have *clusterv1alpha1.AddOnPlacementScore, plan bridge.ScorePlan) error {
	switch plan.Action {
	case bridge.KeepScore, bridge.RefuseScore:
		return nil
	case bridge.DeleteScore:
		return a.Hub.DeleteScore(ctx, have)
	case bridge.CreateScore:
		created, err := a.Hub.CreateScore(ctx, bridge.NewScoreObject(s.Cluster, s.Name))
		if err != nil {
			return err
		}
		have = created
	}
	have = have.DeepCopy()
	have.Status = plan.Status
	_, err := a.Hub.UpdateScoreStatus(ctx, have)
	return err
}

// failed sorts the errors that no retry mends from the others.
func (a *Applier) failed(ctx context.Context, entry *Entry, read *Kept, s events.Subject, err error) error {
	if kube.NoNamespace(err) {
		a.refuse(ctx, entry, read, s, bridge.ReasonNoNamespace, err.Error())
		return err // it may come
	}
	if refusal := kube.Refusal(err); refusal != nil {
		if a.refuse(ctx, entry, read, s, bridge.ReasonRefusedByHub, err.Error()) {
			return a.bury(ctx, entry, refusal)
		}
		return nil
	}
	return err
}

func (a *Applier) settled(subject string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.refused, subject)
}

// refuse says once why a score is not on the hub, however often it is
// computed. It reports whether this was the first time.
func (a *Applier) refuse(ctx context.Context, entry *Entry, read *Kept, s events.Subject, reason, message string) bool {
	a.mu.Lock()
	said := a.refused[entry.Subject] == reason
	a.refused[entry.Subject] = reason
	a.mu.Unlock()
	if said {
		return false
	}
	a.Log.Warn("a score is not written to the hub", "subject", entry.Subject, "reason", reason, "message", message)
	a.Record(ctx, receipt.Answer{
		Kind: events.KindScore, Namespace: s.Cluster, Name: s.Name,
		Subject: entry.Subject, Sequence: entry.Sequence, ID: read.ID, ReceivedAt: entry.ReceivedAt, Origin: read.Origin,
		Outcome: schemas.OutcomeRefused, Reason: reason, Message: message,
	})
	return true
}

// bury keeps the event that no retry mends, unless a newer one stands in
// its place already.
func (a *Applier) bury(ctx context.Context, entry *Entry, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, buryTimeout)
	defer cancel()
	m, err := a.Bus.Last(ctx, events.StreamScores, entry.Subject)
	if err != nil || m.Sequence != entry.Sequence {
		return err
	}
	return a.Bury(ctx, m, cause)
}
