// Package decisions writes placement decisions to the hub, as
// PlacementDecisions and as the Placement's status.
package decisions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from and written to the hub for decisions.
type Hub interface {
	Placement(namespace, name string) *clusterv1beta1.Placement
	Pages(namespace, placement string) []*clusterv1beta1.PlacementDecision
	RefreshPlacement(ctx context.Context, namespace, name string) error
	RefreshPages(ctx context.Context, namespace, placement string) error

	CreatePage(context.Context, *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error)
	UpdatePage(context.Context, *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error)
	UpdatePageStatus(context.Context, *clusterv1beta1.PlacementDecision) (*clusterv1beta1.PlacementDecision, error)
	DeletePage(context.Context, *clusterv1beta1.PlacementDecision) error
	UpdatePlacementStatus(context.Context, *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error)
}

// Ledger holds the last decision of each Placement.
type Ledger = ledger.Ledger[*Kept]

// Entry is one of them.
type Entry = ledger.Entry[*Kept]

// Options are the parts of an Applier. All are needed.
type Options struct {
	Service string
	Hub     Hub
	Bus     events.Publisher // for dead letters
	Record  func(context.Context, receipt.Answer)
	Clock   *events.Clock
	Log     *slog.Logger
	Tracer  trace.Tracer
	// Urgent is entered while decisions are applied.
	Urgent *work.Gate
}

// Applier applies the last decision of each Placement.
type Applier struct {
	Options
	Ledger  *Ledger
	queue   *work.Queue
	answers *answers
	leading atomic.Bool
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{Options: o, queue: queue, answers: newAnswers(o.Record)}
	a.Ledger = ledger.New(o.Clock, Keep, a.changed, a.all)
	return a
}

// Watch is what the ledger follows.
func Watch() events.Watch {
	return events.Watch{Stream: events.StreamDecisions, Subjects: []string{"sw.decision." + events.KindPlacement + ".>"}}
}

// Changed asks for a look at the decision of a Placement.
func (a *Applier) Changed(namespace, name string) {
	a.queue.Add(events.DecisionSubject(events.KindPlacement, namespace, name))
}

// Run applies decisions until ctx ends.
func (a *Applier) Run(ctx context.Context, workers int) {
	a.leading.Store(true)
	defer a.leading.Store(false)
	a.queue.Run(ctx, workers, a.handle)
}

func (a *Applier) all() {
	for _, subject := range a.Ledger.Subjects() {
		a.queue.Add(subject)
	}
}

// changed answers a decision that was overtaken before anybody got to it.
func (a *Applier) changed(subject string, before, now *Entry) {
	a.queue.Add(subject)
	if now == nil {
		a.answers.forget(subject)
		a.Log.Warn("a decision is gone from the log; what the hub has of it stays", "subject", subject)
		return
	}
	if before == nil || before.Sequence == now.Sequence || !a.leading.Load() || !a.answers.open(subject, before.Sequence) {
		return
	}
	a.superseded(context.Background(), before)
}

func (a *Applier) superseded(ctx context.Context, e *Entry) {
	read, err := e.Value.Read()
	if err != nil || read.Decision == nil || read.Decision.Mode != schemas.ModeDirect {
		return
	}
	a.answer(ctx, e, read, schemas.OutcomeSuperseded, bridge.Verdict{Reason: bridge.ReasonNewerDecision}, nil)
}

// handle looks at the last decision of subject, and at the hub.
func (a *Applier) handle(ctx context.Context, subject string) (time.Duration, error) {
	entry := a.Ledger.Get(subject)
	if entry == nil || !a.Ledger.Last(entry) {
		return 0, nil // looked at again when the ledger has caught up
	}
	defer a.Urgent.Enter()()
	defer a.answers.begin(subject, entry.Sequence)()
	read, err := entry.Value.Read()
	if err != nil {
		return 0, a.bury(ctx, entry, err)
	}
	ctx, span := a.Tracer.Start(events.Extract(ctx, read.Event), "bridge.apply", trace.WithAttributes(
		attribute.String("spokewire.subject", subject), attribute.Int64("spokewire.sequence", int64(entry.Sequence)))) //nolint:gosec // a sequence fits
	defer span.End()
	err = a.settle(ctx, entry, read)
	switch {
	case errors.Is(err, errOvertaken):
		a.superseded(ctx, entry)
		return 0, nil
	case err != nil:
		span.SetStatus(codes.Error, err.Error())
	}
	return 0, err
}

func (a *Applier) bury(ctx context.Context, entry *Entry, cause error) error {
	a.Log.Warn("refused a decision that cannot be read", "subject", entry.Subject, "sequence", entry.Sequence, "error", cause)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return events.Bury(ctx, a.Bus, a.Service, entry.Value.message, cause)
}

const (
	maxTries   = 6
	staleDelay = 4 * time.Millisecond
)

// errOvertaken: a newer decision of the subject is in the log.
var errOvertaken = errors.New("overtaken by a newer decision")

// settle tries until the plan was made from the hub's newest state.
func (a *Applier) settle(ctx context.Context, entry *Entry, read Read) error {
	s, err := events.ParseSubject(entry.Subject)
	if err != nil {
		return err
	}
	w := &writes{applier: a, entry: entry}
	for try := 1; ; try++ {
		w.placement, w.objects = a.Hub.Placement(s.Namespace, s.Name), a.Hub.Pages(s.Namespace, s.Name)
		err := a.attempt(ctx, w, read, s.Name)
		if err == nil || !kube.Stale(err) || try == maxTries {
			return err
		}
		if err := sleep(ctx, staleDelay<<try); err != nil {
			return err
		}
		if err := errors.Join(a.Hub.RefreshPlacement(ctx, s.Namespace, s.Name), a.Hub.RefreshPages(ctx, s.Namespace, s.Name)); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *Applier) attempt(ctx context.Context, w *writes, read Read, name string) error {
	if read.Deleted != nil {
		return a.prune(ctx, w, read, name)
	}
	v := bridge.Judge(read.Decision, w.placement)
	switch v.Action {
	case bridge.Apply:
		return a.apply(ctx, w, read)
	case bridge.Release:
		if err := w.release(ctx); err != nil {
			return err
		}
	}
	if v.Reason != "" {
		a.answer(ctx, w.entry, read, schemas.OutcomeRefused, v, nil)
	}
	return nil
}

// apply brings the hub to what the decision says.
func (a *Applier) apply(ctx context.Context, w *writes, read Read) error {
	groups, err := bridge.Desired(read.Decision, w.placement.Spec.SortBy)
	if err != nil {
		a.answer(ctx, w.entry, read, schemas.OutcomeRefused, bridge.Verdict{Reason: bridge.ReasonBadDecision, Message: err.Error()}, nil)
		return nil
	}
	stock := bridge.TakeStock(w.placement, w.objects)
	if err := w.deleteNamed(ctx, stock.Stale); err != nil {
		return err
	}
	plan := bridge.PlanPages(stock, groups, bridge.MaxDecisions)
	for _, step := range plan.Steps {
		if err := w.step(ctx, step); err != nil {
			return err
		}
	}
	status, differs := bridge.PlacementStatus(w.placement, read.Decision, groups, plan.Pages, a.Clock.Now())
	if differs {
		if err := w.status(ctx, status); err != nil {
			return err
		}
	}
	a.answer(ctx, w.entry, read, w.outcome(), bridge.Verdict{Message: foreignMessage(stock)}, w.refs(plan.Pages))
	return nil
}

func foreignMessage(stock bridge.Stock) string {
	if len(stock.Foreign) == 0 {
		return ""
	}
	return fmt.Sprintf("others wrote PlacementDecisions with this Placement's label too, which readers count in: %v", stock.Foreign)
}

// prune deletes what a tombstone ends.
func (a *Applier) prune(ctx context.Context, w *writes, read Read, name string) error {
	living := ""
	if w.placement != nil {
		living = string(w.placement.UID)
	}
	for _, o := range bridge.Orphans(name, read.Deleted.UID, living, w.objects) {
		if err := w.delete(ctx, o); err != nil {
			return err
		}
	}
	a.answer(ctx, w.entry, read, w.outcome(), bridge.Verdict{}, w.written)
	return nil
}

func (a *Applier) answer(ctx context.Context, e *Entry, read Read, outcome string, v bridge.Verdict, objects []schemas.ObjectRef) {
	s, err := events.ParseSubject(e.Subject)
	if err != nil {
		return // it was parsed when the event was read
	}
	r := receipt.Answer{
		Kind: events.KindPlacement, Namespace: s.Namespace, Name: s.Name,
		Subject: e.Subject, Sequence: e.Sequence, ID: read.ID, ReceivedAt: e.ReceivedAt,
		Outcome: outcome, Reason: v.Reason, Message: v.Message, Objects: objects,
	}
	if read.Decision != nil {
		r.Origin = read.Decision.Origin
	}
	a.answers.give(ctx, r)
}
