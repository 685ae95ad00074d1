// Package requests creates on the hub what users ask for over the bus.
package requests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
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

	// MadePlacement reports whether the bridge wrote the Placement's spec,
	// whatever marks it carries.
	MadePlacement(context.Context, *clusterv1beta1.Placement) (bool, error)

	CreatePlacement(context.Context, *bridge.Manifest) (*clusterv1beta1.Placement, error)
	UpdatePlacement(context.Context, *bridge.Manifest) (*clusterv1beta1.Placement, error)
	TryPlacement(context.Context, *bridge.Manifest) (*clusterv1beta1.Placement, error)
	DeletePlacement(context.Context, *clusterv1beta1.Placement) error
}

// Kept is a request, as it was read.
type Kept struct {
	message events.Message
	id      string
	read    events.Received
	err     error
}

// Keep reads the event. The id of one that is none is its place in the log.
func Keep(u events.Update) Kept {
	m := u.Message
	kept := Kept{message: m, id: fmt.Sprintf("%s-%d", m.Stream, m.Sequence)}
	if e, err := events.Decode(m); err == nil {
		kept.id = e.ID()
	}
	kept.read, kept.err = u.Read()
	return kept
}

// Entry is the last request for a Placement.
type Entry = ledger.Entry[Kept]

// Options are the parts of an Applier. All are needed.
type Options struct {
	Hub     Hub
	History events.Historian
	Record  func(context.Context, receipt.Answer)
	Bury    func(context.Context, events.Message, error) error
	Clock   *events.Clock
	Log     *slog.Logger
}

// Applier keeps the Placements that were born on the bus as they were asked
// for.
type Applier struct {
	Options
	Ledger  *ledger.Ledger[Kept]
	queue   *work.Queue
	memory  memory
	leading atomic.Bool
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{Options: o, queue: queue, memory: memory{subjects: map[string]*known{}}}
	a.Ledger = ledger.New(o.Clock, Keep, a.changed, a.all)
	return a
}

// changed keeps a request that was overtaken until it is answered.
func (a *Applier) changed(subject string, before, now *Entry) {
	switch {
	case now == nil:
		a.memory.forget(subject)
	case before != nil && before.Sequence != now.Sequence && a.leading.Load():
		a.memory.overtake(before)
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
	if entry.Value.err == nil {
		return 0, errors.Join(a.overtaken(ctx, subject), a.carryOut(ctx, entry))
	}
	// One that was overtaken may be what stays in force.
	if err := a.carryOut(ctx, entry); err != nil {
		return 0, err
	}
	return 0, a.overtaken(ctx, subject)
}

// carryOut brings the hub to what e asks for. Where no retry can, the request
// before it stays in force.
func (a *Applier) carryOut(ctx context.Context, e *Entry) error {
	earlier, dead := a.memory.standIn(e)
	if !dead {
		err := a.try(ctx, e)
		var bad *events.BadInput
		if !errors.As(err, &bad) {
			return err
		}
		if earlier, err = a.earlier(ctx, e); err != nil {
			return err
		}
		if err := a.refuse(ctx, e, bad, consequence(earlier)); err != nil {
			return err
		}
		a.memory.bury(e, earlier)
	}
	if earlier == nil {
		return nil
	}
	return a.carryOut(ctx, earlier)
}

// consequence says what becomes of the Placement where a request is refused.
func consequence(earlier *Entry) string {
	if earlier == nil {
		return ""
	}
	return fmt.Sprintf("; the request before it (%s %d) stays in force", events.StreamConfig, earlier.Sequence)
}

// try attempts e until it was planned from the hub's newest state. An error
// that no retry mends is a *events.BadInput.
func (a *Applier) try(ctx context.Context, e *Entry) error {
	if e.Value.err != nil {
		return badInput(e.Value.err)
	}
	s := e.Value.read.Subject
	for try := 1; ; try++ {
		err := a.attempt(ctx, e, a.Hub.Placement(s.Namespace, s.Name))
		if err == nil {
			return nil
		}
		if kube.NoNamespace(err) || !kube.Stale(err) || try == maxTries {
			return a.failed(ctx, e, err)
		}
		if err := a.Hub.RefreshPlacement(ctx, s.Namespace, s.Name); err != nil {
			return err
		}
	}
}

// failed sorts the errors that no retry mends from the others.
func (a *Applier) failed(ctx context.Context, e *Entry, err error) error {
	if bad := kube.Refusal(err); bad != nil {
		return bad
	}
	if kube.NoNamespace(err) {
		a.answer(ctx, e, nil, schemas.OutcomeRefused, bridge.ReasonNoNamespace, err.Error())
	}
	return err
}
