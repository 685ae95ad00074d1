// Package requests creates on the hub what users ask for over the bus.
package requests

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from and written to the hub for requests.
type Hub interface {
	Placement(namespace, name string) *clusterv1beta1.Placement
	RefreshPlacement(ctx context.Context, namespace, name string) error

	CreatePlacement(context.Context, *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error)
	UpdatePlacement(context.Context, *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error)
	TryPlacement(context.Context, *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error)
	DeletePlacement(context.Context, *clusterv1beta1.Placement) error
}

// Kept is the last request for an object, as it was read.
type Kept struct {
	message events.Message
	read    events.Received
	err     error
}

// Keep reads m.
func Keep(m events.Message) Kept {
	received, err := events.Read(m)
	return Kept{m, received, err}
}

// Entry is the last request for a Placement.
type Entry = ledger.Entry[Kept]

// Options are the parts of an Applier. All are needed.
type Options struct {
	Hub    Hub
	Record func(context.Context, receipt.Answer)
	Bury   func(context.Context, events.Message, error) error
	Clock  *events.Clock
	Log    *slog.Logger
}

// Applier keeps the Placements that were born on the bus as they were asked
// for.
type Applier struct {
	Options
	Ledger *ledger.Ledger[Kept]
	queue  *work.Queue

	mu    sync.Mutex
	known map[string]known
}

// known is what was found out of the last request of a subject.
type known struct {
	sequence        uint64
	uid             string
	generation      int64
	outcome, reason string
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{Options: o, queue: queue, known: map[string]known{}}
	a.Ledger = ledger.New(o.Clock, Keep, a.changed, a.all)
	return a
}

func (a *Applier) changed(subject string, _, now *Entry) {
	if now == nil {
		a.mu.Lock()
		delete(a.known, subject)
		a.mu.Unlock()
	}
	a.queue.Add(subject)
}

// Watch is what the ledger follows.
func Watch() events.Watch {
	return events.Watch{Stream: events.StreamConfig, Subjects: []string{"sw.config." + events.KindPlacement + ".>"}}
}

// Changed asks for a look at the request for a Placement.
func (a *Applier) Changed(namespace, name string) {
	a.queue.Add(events.ConfigSubject(events.KindPlacement, namespace, name))
}

// Run works until ctx ends.
func (a *Applier) Run(ctx context.Context, workers int) { a.queue.Run(ctx, workers, a.handle) }

func (a *Applier) all() {
	for _, subject := range a.Ledger.Subjects() {
		a.queue.Add(subject)
	}
}

const (
	maxTries    = 4
	buryTimeout = 10 * time.Second
)

// handle looks at the last request of subject, and at the hub.
func (a *Applier) handle(ctx context.Context, subject string) (time.Duration, error) {
	entry := a.Ledger.Get(subject)
	if entry == nil || !a.Ledger.Last(entry) {
		return 0, nil // looked at again when the ledger has caught up
	}
	if entry.Value.err != nil {
		return 0, a.bury(ctx, entry, entry.Value.err)
	}
	s := entry.Value.read.Subject
	for try := 1; ; try++ {
		err := a.attempt(ctx, entry, a.Hub.Placement(s.Namespace, s.Name))
		if err == nil {
			return 0, nil
		}
		if kube.NoNamespace(err) || !kube.Stale(err) || try == maxTries {
			return 0, a.failed(ctx, entry, err)
		}
		if err := a.Hub.RefreshPlacement(ctx, s.Namespace, s.Name); err != nil {
			return 0, err
		}
	}
}

// failed sorts the errors that no retry mends from the others.
func (a *Applier) failed(ctx context.Context, entry *Entry, err error) error {
	var bad *events.BadInput
	if !errors.As(err, &bad) {
		bad = kube.Refusal(err)
	}
	switch {
	case bad != nil:
		a.answer(ctx, entry, nil, schemas.OutcomeRefused, bridge.ReasonRefusedByHub, bad.Error())
		return a.bury(ctx, entry, bad)
	case kube.NoNamespace(err):
		a.answer(ctx, entry, nil, schemas.OutcomeRefused, bridge.ReasonNoNamespace, err.Error())
	}
	return err
}

func (a *Applier) bury(ctx context.Context, entry *Entry, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, buryTimeout)
	defer cancel()
	return a.Bury(ctx, entry.Value.message, cause)
}

func (a *Applier) knows(subject string) known {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[subject]
}

// answer records the outcome once for each request, and each revert.
func (a *Applier) answer(ctx context.Context, entry *Entry, p *clusterv1beta1.Placement, outcome, reason, message string) {
	now := known{sequence: entry.Sequence, outcome: outcome, reason: reason}
	var objects []schemas.ObjectRef
	if p != nil {
		now.uid, now.generation = string(p.UID), p.Generation
		objects = []schemas.ObjectRef{{Kind: schemas.PlacementKind, Namespace: p.Namespace, Name: p.Name, ResourceVersion: p.ResourceVersion}}
	}
	a.mu.Lock()
	before := a.known[entry.Subject]
	a.known[entry.Subject] = now
	a.mu.Unlock()
	said := before.sequence == entry.Sequence && (outcome == schemas.OutcomeUnchanged || before.outcome == outcome && before.reason == reason)
	if said && outcome != schemas.OutcomeApplied {
		return
	}
	s := entry.Value.read.Subject
	a.Record(ctx, receipt.Answer{
		Kind: s.Kind, Namespace: s.Namespace, Name: s.Name,
		Subject: entry.Subject, Sequence: entry.Sequence, ID: entry.Value.read.Event.ID(), ReceivedAt: entry.ReceivedAt,
		Outcome: outcome, Reason: reason, Message: message, Objects: objects,
	})
}
