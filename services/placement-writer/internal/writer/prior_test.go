package writer

import (
	"testing"
	"testing/synctest"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestPriorFromTheHub: without a decision in the log, the Placement goes on
// from what a scheduler made of this very object, and from nothing else.
func TestPriorFromTheHub(t *testing.T) {
	for name, tt := range map[string]struct {
		uid, writer, want, cause string
	}{
		"OCM's":                       {"uid-train", placement.SchedulerOCM, "b", placement.CauseAdopted},
		"ours, whose log is lost":     {"uid-train", placement.SchedulerSpokewire, "b", placement.CauseAdopted},
		"an earlier object's pages":   {"uid-train", "other", "a", placement.CauseFirst},
		"told of the object before":   {"earlier", placement.SchedulerOCM, "a", placement.CauseFirst},
		"a label that somebody wrote": {"uid-train", "", "a", placement.CauseFirst},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				h := hub{t, b}
				h.fleet("a", "b")
				h.publish(events.HubSubject(events.KindPlacementDecision, "default", "train"), schemas.TypeHubPlacementDecision, bridge, &schemas.ObservedDecision{
					Placement: schemas.PlacementRef{Namespace: "default", Name: "train", UID: tt.uid},
					Clusters:  []schemas.ObservedCluster{{Name: "b"}}, Writer: tt.writer,
				})
				h.place("train", `{"numberOfClusters":1}`) // Steady and Balance
				start(t, b.Peer(), nil)
				synctest.Wait()
				if d := h.await("train", tt.want); d.Cause != tt.cause {
					t.Errorf("cause %s, want %s", d.Cause, tt.cause)
				}
			})
		})
	}
}
