package scorers

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// upstream is a hub whose definition has no conditions.
type upstream struct {
	mu     sync.Mutex
	scorer *unstructured.Unstructured
	writes int
	events []string
}

func (h *upstream) DynamicScorer(string, string) (*unstructured.Unstructured, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.scorer.DeepCopy(), nil
}

func (h *upstream) UpdateScorerStatus(_ context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u = u.DeepCopy()
	unstructured.RemoveNestedField(u.Object, "status", "conditions")
	h.scorer = u
	h.writes++
	return u.DeepCopy(), nil
}

func (h *upstream) CreateEvent(_ context.Context, e *eventsv1.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e.Type+" "+e.Reason)
	return nil
}

func (h *upstream) expect(t *testing.T, writes int, health string, said ...string) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	got, _, err := unstructured.NestedString(h.scorer.Object, "status", "healthStatus")
	if err != nil || h.writes != writes || got != health || len(h.events) != len(said) || len(said) > 0 && h.events[len(said)-1] != said[len(said)-1] {
		t.Errorf("after %d writes %q, %v, Events %v, want %d, %q, %v", h.writes, got, err, h.events, writes, health, said)
	}
}

// TestUpstreamsDefinition takes no conditions: the status is written all the
// same, only where it differs, and Events say why.
func TestUpstreamsDefinition(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := &upstream{scorer: &unstructured.Unstructured{Object: map[string]any{
			"kind": "DynamicScorer", "metadata": map[string]any{"namespace": "ocm", "name": "s", "uid": "u1"},
		}}}
		bus, log := eventstest.NewBus(), slog.New(slog.NewTextHandler(t.Output(), nil))
		queue := work.NewQueue("scorers", log, work.NewMetrics(prometheus.NewRegistry()))
		a := NewApplier(Options{Hub: hub, Clock: events.NewClock(nil), Log: log, Urgent: new(work.Gate), Identity: "test"}, queue)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = a.Follow(ctx, bus) })
		running.Go(func() { a.Run(ctx, 1) })
		say := func(health, reason string) {
			t.Helper()
			e, err := events.New(schemas.TypeStatusDynamicScorer, "/services/scorer", &schemas.ScorerStatus{
				Namespace: "ocm", Name: "s", UID: "u1", Health: health, Reason: reason, Message: reason, Holder: "a", HeldUntil: time.Now().Add(30 * time.Second),
			})
			if err == nil {
				_, err = bus.Publish(t.Context(), events.StatusSubject(events.KindDynamicScorer, "ocm", "s"), e)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		say("Active", "")
		hub.expect(t, 1, "Active")
		say("Active", "")
		hub.expect(t, 1, "Active")
		say("Inactive", "TokenMissing")
		hub.expect(t, 2, "Inactive", "Warning TokenMissing")
		say("Inactive", "TokenMissing")
		hub.expect(t, 2, "Inactive", "Warning TokenMissing")
		say("Active", "")
		hub.expect(t, 3, "Active", "Warning TokenMissing") // not so soon after the last
		time.Sleep(eventGap)
		hub.expect(t, 3, "Active", "Warning TokenMissing", "Normal Scored")
		bus.Store(events.StatusSubject(events.KindDynamicScorer, "ocm", "s"), events.Header{}, []byte("{}"))
		hub.expect(t, 3, "Active", "Warning TokenMissing", "Normal Scored")
		time.Sleep(time.Minute) // nobody says anything any more
		hub.expect(t, 4, "Unknown", "Warning TokenMissing", "Normal Scored", "Warning NotAsked")
		cancel()
		running.Wait()
	})
}
