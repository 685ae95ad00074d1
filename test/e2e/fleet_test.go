package e2e

import (
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/test/difftest/twin"
)

// shortRun is one batch with at least one fleet of each kind.
func shortRun(seed uint64) twin.Options {
	o := twin.DefaultOptions()
	o.Seed, o.Cases, o.PerFleet, o.Batch, o.Shrink = seed, 96, 16, 6, 4
	return o
}

// bothSelectTheSame lets OCM and Spokewire decide the same Placements on the
// same hub, and compares what they say. SEED repeats the fleets.
func bothSelectTheSame(t *testing.T, hub hubClients, bus events.Getter) {
	o := shortRun(seedOf(t))
	o.Progress = t.Logf
	s, err := twin.Run(t.Context(), twin.Hub{OCM: hub.ocm, Core: hub.core, Bus: bus}, o)
	must(t, err)
	if s.Cases != o.Cases || s.Differences != 0 {
		t.Error(s)
	}
	if s.Known > s.Cases/4 {
		t.Errorf("%s: too few cases are left to compare", s)
	}
	for _, want := range []string{"True/AllDecisionsScheduled", "False/NotAllDecisionsScheduled", "False/NoManagedClusterMatched"} {
		if s.Outcomes[want] == 0 {
			t.Errorf("no Placement of %d came to %s, so the comparison says little", s.Cases, want)
		}
	}
	// Some have several pages, but for a few seeds of a hundred; what pages are
	// like is tested by itself, in internal/bridge.
	t.Logf("%s; known: %v; OCM's answers: %v; %d with several pages", s, s.Reasons, s.Outcomes, s.Pages)
}

// bestBy selects the one cluster with the highest score of that name.
func bestBy(score string) clusterv1beta1.PlacementSpec {
	one := int32(1)
	return clusterv1beta1.PlacementSpec{
		NumberOfClusters: &one,
		PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact,
			Configurations: []clusterv1beta1.PrioritizerConfig{{ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
				Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: score, ScoreName: score},
			}}},
		},
	}
}
