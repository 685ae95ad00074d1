package writer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestPublishFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after, reads int32
	}{
		"not stored":                    {before: 3},
		"not stored, not readable":      {before: 3, reads: 3},
		"stored without an answer":      {after: 1},
		"stored, not readable":          {after: 1, reads: 1},
		"several, of the tombstone too": {before: 2, after: 2, reads: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				h := hub{t, b}
				f := &decidertest.Faulty{Bus: b.Peer()}
				start(t, f, nil)
				h.fleet("a", "b")
				h.score("a", 2, time.Hour)
				h.score("b", 1, time.Hour)
				synctest.Wait()
				fail := func() { f.Before.Store(tt.before); f.After.Store(tt.after); f.Reads.Store(tt.reads) }
				fail()
				h.place("train", onGPU)
				time.Sleep(time.Minute)
				synctest.Wait()
				if d := h.last("train"); d == nil || d.Clusters[0].Name != "a" {
					t.Fatalf("decision %+v, want a", d)
				}
				fail()
				h.cluster("a", schemas.Taint{Key: "k", Effect: "NoSelect"})
				time.Sleep(time.Minute)
				synctest.Wait()
				if d := h.last("train"); d.Clusters[0].Name != "b" {
					t.Fatalf("decision %+v, want b", d)
				}
				fail()
				h.delete(events.KindPlacement, "default", "train", "")
				time.Sleep(time.Minute)
				synctest.Wait()
				if d := h.last("train"); d != nil {
					t.Error("the decision has outlived its Placement")
				}
				linear(t, b, "train")
			})
		})
	}
}
