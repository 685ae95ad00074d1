package writer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestKillsAndCutsLeaveTheRightDecision stops and starts the writer and cuts
// its connection at random moments. In the end each decision must be the one
// that follows from what the log then holds.
func TestKillsAndCutsLeaveTheRightDecision(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { killAndCut(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func killAndCut(t *testing.T, rng *rand.Rand) {
	b := eventstest.NewBus()
	h := hub{t, b}
	peer := b.Peer()
	_, stop := start(t, peer, nil)
	names := []string{"a", "b", "c", "d", "e"}
	h.fleet(names...)
	specs := map[string]string{"one": onGPU, "all": `{"prioritizerPolicy":{"mode":"Exact"}}`}
	for name, spec := range specs {
		h.place(name, spec)
	}
	fleet := placement.NewFleet()
	for range 200 {
		name := names[rng.IntN(len(names))]
		switch rng.IntN(12) {
		case 0:
			stop()
			_, stop = start(t, peer, nil)
		case 1:
			peer.Disconnect()
		case 2:
			peer.Reconnect()
		case 3:
			h.cluster(name, schemas.Taint{Key: "k", Effect: "NoSelect"})
		case 4:
			h.cluster(name)
		default:
			h.score(name, int32(rng.IntN(201)-100), time.Hour)
		}
		time.Sleep(time.Duration(rng.IntN(3)) * time.Millisecond)
	}
	peer.Reconnect()
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	refold(t, b, fleet)
	for name, spec := range specs {
		linear(t, b, name)
		p, err := placement.Parse(schemas.Placement{Name: name, Namespace: "default", UID: "uid-" + name, Direct: true, Spec: []byte(spec)})
		if err != nil {
			t.Fatal(err)
		}
		want := placement.Decide(placement.Input{Placement: p, Fleet: fleet}, time.Now())
		if diff := cmp.Diff(want.Clusters, h.last(name).Clusters); diff != "" {
			t.Errorf("decision of %s (-want +got):\n%s", name, diff)
		}
	}
}
