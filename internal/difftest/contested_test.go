package difftest

import (
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestManyPlacementsAreContested lets Spokewire's own rules decide, to see
// what the fleets are worth: it is easy to generate Placements to which the
// answer is nothing or everything.
func TestManyPlacementsAreContested(t *testing.T) {
	count, contested, byScore := 0, 0, 0
	for i := range 300 {
		f := Generate(1, i, size, now)
		fleet := known(t, &f)
		for _, p := range f.Placements {
			count++
			d := decide(t, fleet, p)
			if eligible := eligibleOf(&d); len(d.Clusters) == 0 || len(d.Clusters) == eligible {
				continue
			}
			contested++
			plain := p.DeepCopy()
			plain.Spec.PrioritizerPolicy.Configurations = nil
			if byName := decide(t, fleet, plain); !sameClusters(&d, &byName) {
				byScore++
			}
		}
	}
	t.Logf("%d Placements: %d select some of several eligible clusters, %d others than by name alone", count, contested, byScore)
	if contested < count/3 || byScore < count/6 {
		t.Errorf("of %d Placements %d are contested and %d decided by scores, want a third and a sixth", count, contested, byScore)
	}
}

func known(t *testing.T, f *Fleet) *placement.Fleet {
	t.Helper()
	out := placement.NewFleet()
	for _, s := range f.Sets {
		set, err := bridge.ClusterSet(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.SetClusterSet(set); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range f.Bindings {
		out.SetBinding(bridge.Binding(b))
	}
	for _, c := range f.Clusters {
		out.SetCluster(bridge.Cluster(c))
	}
	for _, s := range f.Scores {
		out.SetAddOnScore(bridge.AddOnScore(s), now)
	}
	return out
}

func decide(t *testing.T, fleet *placement.Fleet, p *clusterv1beta1.Placement) schemas.PlacementDecision {
	t.Helper()
	payload, err := bridge.Placement(Direct(p))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := placement.Parse(*payload)
	if err != nil {
		t.Fatal(err)
	}
	return placement.Decide(placement.Input{Placement: parsed, Fleet: fleet}, now)
}

func eligibleOf(d *schemas.PlacementDecision) int {
	n := d.Considered
	for _, rejected := range d.Rejected {
		n -= rejected
	}
	return n
}

func sameClusters(a, b *schemas.PlacementDecision) bool {
	in := map[string]bool{}
	for _, c := range a.Clusters {
		in[c.Name] = true
	}
	for _, c := range b.Clusters {
		if !in[c.Name] {
			return false
		}
	}
	return len(a.Clusters) == len(b.Clusters)
}
