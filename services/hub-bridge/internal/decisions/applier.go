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
	Rollouts(ctx context.Context, namespace, placement string, clusters []string) ([]bridge.Rollout, error)
	KeepsCluster(name string) bool

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

// Options are the parts of an Applier. All but Done are needed.
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
	// Explain is told what became of each decision at each look at it, nil for
	// one that is deleted. It does not block.
	Explain func(receipt.Answer, *schemas.PlacementDecision)
	// Done, if set, is called after each look at a Placement's decision.
	Done func(namespace, name string)
	// Native is told of a Placement whose last decision is Spokewire's although
	// OCM decides it: what OCM has decided is to be said again. It does not
	// block.
	Native func(namespace, name string)
}

// Applier applies the last decision of each Placement.
type Applier struct {
	Options
	Ledger  *Ledger
	queue   *work.Queue
	answers *answers
	moves   *moves
	leading atomic.Bool
	silent  atomic.Bool // it was said that the hub does not tell of rollouts
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{Options: o, queue: queue, answers: newAnswers(o.Record), moves: newMoves()}
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

// changed takes note of another last event of subject.
func (a *Applier) changed(subject string, before, now *Entry) {
	a.queue.Add(subject)
	if now == nil {
		a.answers.forget(subject)
		a.moves.forget(subject)
		a.Log.Warn("a decision is gone from the log; what the hub has of it stays", "subject", subject)
		return
	}
	if before != nil && before.Sequence != now.Sequence {
		a.Overtaken(before)
	}
}

// Overtaken answers an event that another one stands behind now, if nobody has
// got to it.
func (a *Applier) Overtaken(e *Entry) {
	if a.leading.Load() && a.answers.open(e.Subject, e.Sequence) {
		a.superseded(context.Background(), e)
	}
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
	again, err := a.look(ctx, entry)
	end()
	a.done(subject)
	// From here on, changed answers; what came before it left to this worker.
	if newest := a.Ledger.Get(subject); newest != nil && newest != entry && !a.answers.given(subject, entry.Sequence) {
		a.superseded(ctx, entry)
		return 0, nil // the newest is in the queue
	}
	if errors.Is(err, errOvertaken) {
		return 0, nil // the ledger is behind, and will tell
	}
	return again, err
}

func (a *Applier) done(subject string) {
	if s, err := events.ParseSubject(subject); err == nil && a.Done != nil {
		a.Done(s.Namespace, s.Name)
	}
}

// look reads the decision and brings the hub to what it says. It returns when
// to look again even if nothing happens.
func (a *Applier) look(ctx context.Context, entry *Entry) (time.Duration, error) {
	read, err := entry.Value.Read()
	if err != nil {
		return 0, a.bury(ctx, entry, err)
	}
	ctx, end := a.trace(ctx, entry, read)
	again, err := a.settle(ctx, entry, read)
	end(err)
	return again, err
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
	a.moves.forget(entry.Subject)
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

var (
	// errOvertaken: a newer decision of the subject is in the log.
	errOvertaken = errors.New("overtaken by a newer decision")
	// errNotEntitled: in the middle of the writes the Placement went over to
	// somebody else.
	errNotEntitled = errors.New("the Placement is Spokewire's no more")
)

// settle tries until the plan was made from the hub's newest state.
func (a *Applier) settle(ctx context.Context, entry *Entry, read Read) (time.Duration, error) {
	s, err := events.ParseSubject(entry.Subject)
	if err != nil {
		return 0, err
	}
	w := &writes{applier: a, entry: entry}
	for try := 1; ; try++ {
		w.placement, w.objects = a.Hub.Placement(s.Namespace, s.Name), a.Hub.Pages(s.Namespace, s.Name)
		err := a.attempt(ctx, w, read, s.Name)
		if refusal := kube.Refusal(err); refusal != nil {
			return 0, a.refuse(ctx, entry, read, refusal)
		}
		if errors.Is(err, errNotEntitled) && try < maxTries {
			continue // judged anew by what is known now
		}
		if err == nil || !kube.Stale(err) || try == maxTries {
			return w.again, err
		}
		if err := sleep(ctx, staleDelay<<try); err != nil {
			return 0, err
		}
		if err := errors.Join(a.Hub.RefreshPlacement(ctx, s.Namespace, s.Name), a.Hub.RefreshPages(ctx, s.Namespace, s.Name)); err != nil {
			return 0, err
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
