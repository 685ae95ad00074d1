// Package decisions writes placement decisions to the hub, as
// PlacementDecisions and as the Placement's status.
package decisions

import (
	"context"
	"errors"
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
	Hub    Hub
	Bus    events.Getter // for dead letters
	Record func(context.Context, receipt.Answer)
	Bury   func(context.Context, events.Message, error) error
	Clock  *events.Clock
	Log    *slog.Logger
	Tracer trace.Tracer
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
	end := a.answers.begin(subject, entry.Sequence)
	err := a.look(ctx, entry)
	end()
	// From here on, changed answers; what came before it left to this worker.
	if newest := a.Ledger.Get(subject); newest != nil && newest != entry && !a.answers.given(subject, entry.Sequence) {
		a.superseded(ctx, entry)
		return 0, nil // the newest is in the queue
	}
	if errors.Is(err, errOvertaken) {
		return 0, nil // the ledger is behind, and will tell
	}
	return 0, err
}

// look reads the decision and brings the hub to what it says.
func (a *Applier) look(ctx context.Context, entry *Entry) error {
	read, err := entry.Value.Read()
	if err != nil {
		return a.bury(ctx, entry, err)
	}
	ctx, end := a.trace(ctx, entry, read)
	err = a.settle(ctx, entry, read)
	end(err)
	return err
}

// trace starts the span of a decision that is applied for the first time. A
// later look, at what others did to its objects, is no part of its trace.
func (a *Applier) trace(ctx context.Context, entry *Entry, read Read) (context.Context, func(error)) {
	if a.answers.given(entry.Subject, entry.Sequence) {
		return ctx, func(error) {}
	}
	ctx, span := a.Tracer.Start(events.Extract(ctx, read.Event), "bridge.apply", trace.WithAttributes(
		attribute.String("spokewire.subject", entry.Subject), attribute.Int64("spokewire.sequence", int64(entry.Sequence)))) //nolint:gosec // a sequence fits
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

func (a *Applier) bury(ctx context.Context, entry *Entry, cause error) error {
	if a.answers.given(entry.Subject, entry.Sequence) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, buryTimeout)
	defer cancel()
	if err := a.Bury(ctx, entry.Value.message, cause); err != nil {
		return err
	}
	a.Log.Warn("refused a decision that cannot be read", "subject", entry.Subject, "sequence", entry.Sequence, "error", cause)
	a.answers.note(entry.Subject, entry.Sequence)
	return nil
}

const (
	maxTries    = 6
	staleDelay  = 4 * time.Millisecond
	buryTimeout = 10 * time.Second
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
		if refusal := kube.Refusal(err); refusal != nil {
			return a.refuse(ctx, entry, read, refusal)
		}
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
