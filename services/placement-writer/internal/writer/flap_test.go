package writer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func windowOf(d time.Duration) func(*schemas.Placement) {
	return func(p *schemas.Placement) {
		p.Annotations = map[string]string{placement.AnnotationWindow: d.String()}
	}
}

// TestWindowGoesOnThroughRestarts: whoever decides, a cluster is dropped when
// it was behind for the whole window, and not later.
func TestWindowGoesOnThroughRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 60, time.Hour)
		h.place("train", onGPU, windowOf(time.Minute))
		_, stop := start(t, b.Peer(), nil)
		h.await("train", "b")
		h.score("a", 70, time.Hour)
		h.eventually("the wait", func() bool { return h.last("train").Cause == placement.CauseMoveHeld }, func() any { return h.last("train") })
		began := h.last("train").Now
		time.Sleep(20 * time.Second)
		stop()
		time.Sleep(20 * time.Second)
		start(t, b.Peer(), nil)
		d := h.await("train", "a")
		if took := d.Now.Sub(began); took < time.Minute || took > time.Minute+time.Second {
			t.Errorf("dropped after %s, want a minute", took)
		}
		linear(t, b, "train")
	})
}

func TestPolicyOfTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 60, time.Hour)
		h.place("train", onGPU)
		start(t, b.Peer(), nil)
		h.await("train", "b")
		window, subject := schemas.Duration(time.Hour), events.ConfigSubject(events.KindPolicy, "", schemas.DefaultPolicyName)
		h.publish(subject, schemas.TypeConfigPolicy, bridge, &schemas.PlacementPolicy{
			APIVersion: schemas.PlacementPolicyAPIVersion, Kind: schemas.PlacementPolicyKind,
			Metadata: schemas.Metadata{Name: schemas.DefaultPolicyName}, Spec: schemas.PlacementPolicySpec{StabilisationWindow: &window},
		})
		synctest.Wait()
		h.score("a", 70, time.Hour)
		h.eventually("the wait", func() bool { return h.last("train").Cause == placement.CauseMoveHeld }, func() any { return h.last("train") })
		if at := h.last("train").Basis[events.StreamConfig]; at == 0 {
			t.Error("the policy is not in the decision's basis")
		}
		h.publish(subject, schemas.TypeConfigPolicyDeleted, bridge, &schemas.Deleted{Name: schemas.DefaultPolicyName}, events.Tombstone())
		h.await("train", "a")
	})
}
