package placement

import (
	"slices"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestThePickIsMadeAnew has nobody move who was looked at, and yet another
// cluster to be picked.
func TestThePickIsMadeAnew(t *testing.T) {
	t.Parallel()
	inOneZone := func(spec clusterv1beta1.PlacementSpec) clusterv1beta1.PlacementSpec {
		spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 9}}
		return spec
	}
	zoned := labelled("zone", "1")
	byCPU := onGPU(1)
	byCPU.PrioritizerPolicy = exact(addOnOf("gpu", 1), builtIn(builtInCPU, 1))
	band := int64(500)
	for name, tt := range map[string]struct {
		spec   clusterv1beta1.PlacementSpec
		ofA    int32
		change func(w *world, refresh func())
	}{
		"the dead band is off again": {onGPU(1), 91, func(w *world, refresh func()) {
			w.fleet.SetPolicy(&schemas.PlacementPolicySpec{DeadBand: &band})
			w.score("b", "gpu", 99, time.Hour)
			refresh()
			w.fleet.SetPolicy(nil)
		}},
		"the bounds of a resource": {byCPU, 20, func(w *world, _ func()) { w.cluster("x", zoned, having("1m", "1Gi")) }},
		"another place for the best": {onGPU(1), 91, func(w *world, _ func()) {
			w.cluster("a", zoned, inSet("blue"))
		}},
	} {
		w := newWorld(t)
		w.cluster("a", zoned, having("10", "1Gi"))
		w.cluster("b", zoned, having("8", "1Gi"))
		w.cluster("x", zoned, having("7", "1Gi"))
		w.score("a", "gpu", tt.ofA, time.Hour)
		w.score("b", "gpu", 90, time.Hour)
		w.score("x", "gpu", -100, time.Hour)
		r := NewRanking(place(t, inOneZone(tt.spec)), w.fleet, nil)
		refresh := func() {
			r.Refresh(w.now)
			r.SetPrior(after(r.Decision()))
		}
		refresh()
		refresh()
		if got := SelectedNames(r.prior.Decision); !slices.Equal(got, []string{"a"}) {
			t.Fatalf("%s: at first %v is selected", name, got)
		}
		r.Refresh(w.now) // who came in is looked at once more
		tt.change(w, refresh)
		refresh()
		if got := SelectedNames(r.prior.Decision); !slices.Equal(got, []string{"b"}) {
			t.Errorf("%s: %v is selected, want b", name, got)
		}
	}
}
