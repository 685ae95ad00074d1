// Package scorers tells on the hub how its DynamicScorers fare, by their
// status and by Events.
package scorers

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from and written to the hub.
type Hub interface {
	DynamicScorer(namespace, name string) (*unstructured.Unstructured, error)
	UpdateScorerStatus(context.Context, *unstructured.Unstructured) (*unstructured.Unstructured, error)
	CreateEvent(context.Context, *eventsv1.Event) error
}

// Kept is the status of a scorer, nil where it has none.
type Kept = *schemas.ScorerStatus

// Keep reads the event. The last readable one counts.
func Keep(u events.Update) Kept {
	received, err := u.Read()
	if err != nil {
		return nil
	}
	s, _ := received.Payload.(*schemas.ScorerStatus)
	return s
}

// Options are the parts of an Applier. All are needed.
type Options struct {
	Hub    Hub
	Clock  *events.Clock
	Log    *slog.Logger
	Urgent *work.Gate
	// Identity is this replica's name, in Events.
	Identity string
}

// Applier keeps the statuses of the hub's DynamicScorers as the scorer
// service says.
type Applier struct {
	Options
	Ledger *ledger.Ledger[Kept]
	queue  *work.Queue
	// pruned: the hub's definition has no conditions, as upstream's.
	pruned atomic.Bool

	mu   sync.Mutex
	told map[string]told // by subject
}

// told is what an Event said last, and when the next may.
type told struct {
	reason string
	next   time.Time
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{Options: o, queue: queue, told: map[string]told{}}
	a.Ledger = ledger.New(o.Clock, Keep, a.changed, a.all)
	a.Ledger.Refused = func(events.Message, error) {} // the scorer buries them
	return a
}

// Watch is what the ledger follows.
func Watch() events.Watch {
	return events.Watch{Stream: events.StreamStatus, Subjects: []string{"sw.status." + events.KindDynamicScorer + ".>"}}
}

// Follow follows the bus until ctx ends.
func (a *Applier) Follow(ctx context.Context, w events.Watcher) error {
	return a.Ledger.Run(ctx, events.Readable{Watcher: w}, Watch())
}

// Changed asks for a look at a DynamicScorer.
func (a *Applier) Changed(namespace, name string) {
	a.queue.Add(events.StatusSubject(events.KindDynamicScorer, namespace, name))
}

// Run works until ctx ends.
func (a *Applier) Run(ctx context.Context, workers int) { a.queue.Run(ctx, workers, a.handle) }

func (a *Applier) all() {
	for _, subject := range a.Ledger.Subjects() {
		a.queue.Add(subject)
	}
}

func (a *Applier) changed(subject string, _, now *ledger.Entry[Kept]) {
	if now == nil {
		a.mu.Lock()
		delete(a.told, subject)
		a.mu.Unlock()
	}
	a.queue.Add(subject)
}

// yieldMost is for how long the status steps back for decisions, eventGap the
// least time between two Events of a scorer.
const (
	yieldMost = time.Second
	eventGap  = 10 * time.Second
)

// handle brings the status of one DynamicScorer to what is said of it.
func (a *Applier) handle(ctx context.Context, subject string) (time.Duration, error) {
	entry := a.Ledger.Get(subject)
	if entry == nil || entry.Value == nil || !a.Ledger.Last(entry) {
		return 0, nil // looked at again when there is something
	}
	s := entry.Value
	have, err := a.Hub.DynamicScorer(s.Namespace, s.Name)
	if err != nil {
		return 0, err
	}
	if have == nil || s.UID != string(have.GetUID()) {
		return 0, nil // of the bus alone, or of a predecessor
	}
	now := a.Clock.Now()
	status, differs, again, err := bridge.PlanScorerStatus(have, s, now, !a.pruned.Load())
	if err != nil {
		return 0, err
	}
	if differs {
		a.Urgent.Yield(ctx, yieldMost)
		if err := a.write(ctx, have, status); err != nil {
			return 0, err
		}
	}
	later, err := a.tell(ctx, subject, have, s, now)
	if err != nil {
		return 0, err
	}
	if !again.IsZero() && (later.IsZero() || again.Before(later)) {
		later = again
	}
	if later.IsZero() {
		return 0, nil
	}
	return max(later.Sub(now), time.Millisecond), nil
}

func (a *Applier) write(ctx context.Context, have *unstructured.Unstructured, status map[string]any) error {
	have = have.DeepCopy()
	have.Object["status"] = status
	written, err := a.Hub.UpdateScorerStatus(ctx, have)
	if err != nil {
		return err // a conflict too: the cache has the newer state soon
	}
	if !bridge.KeepsConditions(written) && !a.pruned.Swap(true) {
		a.Log.Info("the hub's definition of DynamicScorer has no conditions: what is wrong with one is told by Events and spokewire get scorers")
	}
	return nil
}

// tell says by an Event what is wrong, or that it is right again. It returns
// when it may, where the last Event was only just now.
func (a *Applier) tell(ctx context.Context, subject string, have *unstructured.Unstructured, s *schemas.ScorerStatus, now time.Time) (later time.Time, err error) {
	_, condition, _ := bridge.ScorerCondition(s, now)
	a.mu.Lock()
	last, known := a.told[subject]
	a.mu.Unlock()
	switch {
	case last.reason == condition.Reason:
		return later, nil
	case !known && condition.Status != metav1.ConditionFalse:
		a.note(subject, told{reason: condition.Reason})
		return later, nil // that all is well is only news after trouble
	case now.Before(last.next):
		return last.next, nil
	}
	err = a.Hub.CreateEvent(ctx, bridge.ScorerEvent(have, condition, now, a.Identity))
	if err != nil && !kube.Final(err) && !kube.NoNamespace(err) {
		return later, err
	}
	if err != nil {
		a.Log.Warn("the hub does not take an Event on a DynamicScorer", "scorer", s.Namespace+"/"+s.Name, "error", err)
	}
	a.note(subject, told{reason: condition.Reason, next: now.Add(eventGap)})
	return later, nil
}

func (a *Applier) note(subject string, t told) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told[subject] = t
}
