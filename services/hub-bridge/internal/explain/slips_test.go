package explain

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// slipping are Slips on a faulty hub whose Placement OCM decides.
type slipping struct {
	t     *testing.T
	hub   *faulty
	slips *Slips
}

func slip(t *testing.T, test func(*slipping)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slipping{t: t, hub: &faulty{onEvent: func() error { return nil }}}
		metrics, log := prometheus.NewRegistry(), slog.New(slog.DiscardHandler)
		s.slips = NewSlips(Options{
			Hub: s.hub, Clock: events.NewClock(nil), Log: log, Urgent: new(work.Gate), Identity: "test", Metrics: metrics,
		}, work.NewQueue("slips", log, work.NewMetrics(metrics)))
		go s.slips.Run(t.Context())
		test(s)
	})
}

// edit has the hub show a Placement with these annotations, nil for none.
func (s *slipping) edit(annotations map[string]string) {
	s.hub.mu.Lock()
	s.hub.placement = nil
	if annotations != nil {
		s.hub.placement = &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "train", UID: "u", Annotations: annotations}}
	}
	s.hub.mu.Unlock()
	s.slips.Changed("ns", "train")
	synctest.Wait()
}

// told fails unless there are Events that begin so.
func (s *slipping) told(want ...string) {
	s.t.Helper()
	got := s.hub.notes()
	if !slices.EqualFunc(got, want, func(note, begins string) bool {
		return strings.HasPrefix(note, begins) && strings.Contains(note, "OCM decides")
	}) {
		s.t.Errorf("the events are %q, want %q", got, want)
	}
}

const misspelt = "annotation spokewire.dev/mode is \"shade\": write shadow"

func TestASlipIsToldOnce(t *testing.T) {
	slip(t, func(s *slipping) {
		s.edit(map[string]string{"spokewire.dev/mode": "shade"})
		s.edit(map[string]string{"spokewire.dev/mode": "shade", "theirs": "changes"})
		s.told(misspelt)
		s.edit(map[string]string{"spokewire.dev/mode": "shadow"})
		s.edit(map[string]string{"spokewire.dev/mod": "shadow"})
		const unknown = "annotations that mean nothing: spokewire.dev/mod;"
		s.told(misspelt, unknown)
		s.edit(nil)
		s.edit(map[string]string{"spokewire.dev/mod": "shadow"})
		s.told(misspelt, unknown, unknown)
	})
}

// TestWhereADecisionSaysItNobodyElseDoes: those that Spokewire decides have
// conditions of their own.
func TestWhereADecisionSaysItNobodyElseDoes(t *testing.T) {
	slip(t, func(s *slipping) {
		s.edit(map[string]string{"spokewire.dev/mode": "shade", clusterv1beta1.PlacementDisableAnnotation: "true"})
		s.edit(map[string]string{"spokewire.dev/mode": "shadow", "spokewire.dev/dead-band": "wide"})
		s.edit(map[string]string{"spokewire.dev/dead-band": "10", "spokewire.dev/origin": "bus"})
		s.edit(map[string]string{})
		s.told()
	})
}

func TestASlipIsToldLaterWhereTheHubIsAway(t *testing.T) {
	slip(t, func(s *slipping) {
		failures := 3
		s.hub.onEvent = func() error {
			if failures--; failures >= 0 {
				return errors.New("no connection")
			}
			return nil
		}
		s.edit(map[string]string{"spokewire.dev/mode": "shade"})
		s.told()
		time.Sleep(time.Minute)
		synctest.Wait()
		s.told(misspelt)
	})
}

func TestASlipThatTheHubDoesNotTake(t *testing.T) {
	slip(t, func(s *slipping) {
		tries := 0
		s.hub.onEvent = func() error {
			tries++
			return apierrors.NewForbidden(schema.GroupResource{Group: "events.k8s.io", Resource: "events"}, "train", errors.New("no right"))
		}
		s.edit(map[string]string{"spokewire.dev/mode": "shade"})
		time.Sleep(time.Hour)
		s.edit(map[string]string{"spokewire.dev/mode": "shade"})
		if tries != 1 {
			t.Errorf("%d tries, want one", tries)
		}
	})
}
