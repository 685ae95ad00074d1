package explain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// faulty is a hub that fails as a test wants it to.
type faulty struct {
	mu        sync.Mutex
	placement *clusterv1beta1.Placement
	events    []*eventsv1.Event
	refreshed int
	onEvent   func() error
	onStatus  func() error
}

func (h *faulty) Placement(string, string) *clusterv1beta1.Placement {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.placement
}

func (h *faulty) RefreshPlacement(context.Context, string, string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refreshed++
	return nil
}

func (h *faulty) UpdatePlacementStatus(_ context.Context, p *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.onStatus(); err != nil {
		return nil, err
	}
	h.placement = p
	return p, nil
}

func (h *faulty) CreateEvent(_ context.Context, e *eventsv1.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.onEvent(); err != nil {
		return err
	}
	h.events = append(h.events, e)
	return nil
}

func (h *faulty) notes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var notes []string
	for _, e := range h.events {
		notes = append(notes, e.Note)
	}
	return notes
}

func (h *faulty) condition() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := meta.FindStatusCondition(h.placement.Status.Conditions, bridge.ConditionExplained)
	if c == nil {
		return ""
	}
	return c.Message
}

// world is a Recorder on a faulty hub.
type world struct {
	t   *testing.T
	hub *faulty
	*Recorder
}

// in runs a test on a clock of its own.
func in(t *testing.T, test func(*world)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &faulty{onEvent: func() error { return nil }, onStatus: func() error { return nil }}
		h.placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "train", UID: "u", Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
		}}
		w := &world{t: t, hub: h}
		w.begin(t.Context())
		test(w)
	})
}

// begin runs a new Recorder, as a replica does that has just started.
func (w *world) begin(ctx context.Context) (stop func()) {
	clock := events.NewClock(nil)
	clock.Observe(time.Now())
	metrics, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
	w.Recorder = NewRecorder(Options{
		Hub: w.hub, Clock: clock, Log: log, Urgent: new(work.Gate), Budget: 20, Identity: "test", Metrics: metrics,
	}, work.NewQueue("explanations", log, work.NewMetrics(metrics)))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	run := w.Run
	go func() {
		run(ctx)
		close(done)
	}()
	stop = func() {
		cancel()
		<-done
	}
	w.t.Cleanup(stop)
	return stop
}

const subject = "sw.decision.placement.ns.train"

// decides is a decision that moves to cluster, and what became of it.
func (w *world) decides(sequence uint64, cluster, outcome string) {
	w.note(sequence, outcome, &schemas.PlacementDecision{
		Cause: placement.CauseScoreChanged, Message: cluster + " overtook", Added: []string{cluster},
	})
}

func (w *world) note(sequence uint64, outcome string, d *schemas.PlacementDecision) {
	d.Mode, d.Scheduler = schemas.ModeDirect, "spokewire"
	d.Placement = schemas.PlacementRef{Namespace: "ns", Name: "train", UID: "u"}
	w.Note(receipt.Answer{
		Namespace: "ns", Name: "train", Subject: subject, Sequence: sequence, ID: fmt.Sprint("id-", sequence), ReceivedAt: w.Clock.Now(), Outcome: outcome,
	}, d)
}

func (w *world) wants(condition string, notes ...string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.hub.notes(); !slices.Equal(got, notes) {
		w.t.Errorf("the events are %q, want %q", got, notes)
	}
	if got := w.hub.condition(); got != condition {
		w.t.Errorf("the condition is %q, want %q", got, condition)
	}
}

func (w *world) counts(result string, want float64) {
	w.t.Helper()
	var m dto.Metric
	if err := w.results.WithLabelValues(result).Write(&m); err != nil {
		w.t.Fatal(err)
	}
	if got := m.GetCounter().GetValue(); got != want {
		w.t.Errorf("%v are %s, want %v", got, result, want)
	}
}

const (
	toA = "a overtook. Selected: none. Added: a"
	toB = "b overtook. Selected: none. Added: b"
	toC = "c overtook. Selected: none. Added: c"
)

func TestOneEventInAWhile(t *testing.T) {
	in(t, func(w *world) {
		w.decides(1, "a", schemas.OutcomeApplied)
		w.wants("Decision 1: "+toA, toA)
		w.decides(1, "a", schemas.OutcomeUnchanged) // looked at again
		w.decides(2, "b", schemas.OutcomeApplied)
		w.decides(3, "c", schemas.OutcomeApplied)
		time.Sleep(gap - time.Second)
		w.wants("Decision 1: "+toA, toA)
		time.Sleep(2 * time.Second)
		w.wants("Decision 3: "+toC, toA, toC+". Since the last event: 1 more")
		w.counts(resultTold, 2)
		w.counts(resultMerged, 1)
	})
}

// What others take away comes back, without an Event and not at once.
func TestWhatOthersTakeAway(t *testing.T) {
	in(t, func(w *world) {
		w.decides(1, "a", schemas.OutcomeApplied)
		w.wants("Decision 1: "+toA, toA)
		for range 2 {
			w.hub.placement.Status.Conditions = nil
			w.decides(1, "a", schemas.OutcomeUnchanged)
			time.Sleep(gap - 2*time.Second)
			w.wants("", toA)
			time.Sleep(3 * time.Second)
			w.wants("Decision 1: "+toA, toA)
		}
	})
}

// What was overtaken before the hub had it is told once the hub has what came
// after it, if that is no news.
func TestAMoveThatWasOvertakenIsTold(t *testing.T) {
	in(t, func(w *world) {
		w.decides(1, "a", schemas.OutcomeSuperseded)
		w.wants("")
		w.note(2, schemas.OutcomeApplied, &schemas.PlacementDecision{Cause: placement.CauseScoreChanged})
		w.wants("Decision 1: "+toA, toA)
	})
}

func TestAHoldThatIsOverIsNotStated(t *testing.T) {
	in(t, func(w *world) {
		w.note(1, schemas.OutcomeApplied, &schemas.PlacementDecision{Cause: placement.CauseMoveHeld, Message: "a stays"})
		w.wants("Decision 1: a stays. Selected: none", "a stays. Selected: none")
		w.note(2, schemas.OutcomeApplied, &schemas.PlacementDecision{Cause: placement.CauseScoreChanged, Message: "over"})
		time.Sleep(gap)
		w.wants("Decision 2: over. Selected: none", "a stays. Selected: none")
	})
}

func TestANewReplicaRepeatsNothing(t *testing.T) {
	in(t, func(w *world) {
		stop := w.begin(w.t.Context())
		w.decides(1, "a", schemas.OutcomeApplied)
		w.wants("Decision 1: "+toA, toA)
		stop()
		w.begin(w.t.Context())
		w.decides(1, "a", schemas.OutcomeUnchanged)
		time.Sleep(gap)
		w.wants("Decision 1: "+toA, toA)
		// An old decision that was never told of is no news either.
		w.Note(receipt.Answer{
			Namespace: "ns", Name: "train", Subject: subject, Sequence: 2, ID: "id-2", ReceivedAt: w.Clock.Now().Add(-10 * time.Minute), Outcome: schemas.OutcomeUnchanged,
		}, &schemas.PlacementDecision{
			Placement: schemas.PlacementRef{UID: "u"}, Mode: schemas.ModeDirect, Scheduler: "spokewire",
			Cause: placement.CauseScoreChanged, Message: "b overtook", Added: []string{"b"},
		})
		w.wants("Decision 2: "+toB, toA)
	})
}

func TestTheHubFails(t *testing.T) {
	down := errors.New("connection refused")
	gone := apierrors.NewForbidden(schema.GroupResource{Resource: "events"}, "x", nil)
	stale := apierrors.NewConflict(schema.GroupResource{Resource: "placements"}, "train", nil)
	times := func(n int, err error) func() error {
		return func() error {
			if n--; n < 0 {
				return nil
			}
			return err
		}
	}
	tests := map[string]struct {
		onEvent, onStatus func() error
		condition         string
		notes             []string
		told, failed      float64
	}{
		"for a while":        {onEvent: times(3, down), onStatus: times(0, nil), condition: "Decision 1: " + toA, notes: []string{toA}, told: 1},
		"for good":           {onEvent: times(99, down), onStatus: times(0, nil), failed: 1},
		"takes no events":    {onEvent: times(99, gone), onStatus: times(0, nil), condition: "Decision 1: " + toA, told: 1},
		"conflicts":          {onEvent: times(0, nil), onStatus: times(2, stale), condition: "Decision 1: " + toA, notes: []string{toA}, told: 1},
		"takes no condition": {onEvent: times(0, nil), onStatus: times(99, gone), notes: []string{toA}, failed: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in(t, func(w *world) {
				w.hub.onEvent, w.hub.onStatus = tt.onEvent, tt.onStatus
				w.decides(1, "a", schemas.OutcomeApplied)
				time.Sleep(time.Hour)
				w.wants(tt.condition, tt.notes...)
				w.counts(resultTold, tt.told)
				w.counts(resultFailed, tt.failed)
				if len(w.waiting) != 0 {
					t.Errorf("%d still wait", len(w.waiting))
				}
			})
		})
	}
}

func TestAPlacementOfAnothersIsLeftAlone(t *testing.T) {
	in(t, func(w *world) {
		w.hub.placement.Annotations = nil
		w.decides(1, "a", schemas.OutcomeApplied)
		w.wants("")
		w.hub.placement = nil
		w.decides(2, "b", schemas.OutcomeApplied)
		synctest.Wait()
		if len(w.waiting)+len(w.told) != 0 || len(w.hub.notes()) != 0 {
			t.Errorf("of a Placement that is gone %v, %v are kept", w.waiting, w.told)
		}
	})
}

func TestTooManyAreDropped(t *testing.T) {
	in(t, func(w *world) {
		for i := range maxWaiting {
			w.put(fmt.Sprint(i), &waiting{})
		}
		w.decides(1, "a", schemas.OutcomeApplied)
		w.wants("")
		w.counts(resultDropped, 1)
	})
}
