package difftest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// TestShrinkFindsTheCulprit: answers differ whenever some cluster has a taint
// and the Placement has an expression that reads claims.
func TestShrinkFindsTheCulprit(t *testing.T) {
	culprit := func(f *Fleet) bool {
		tainted := slices.ContainsFunc(f.Clusters, func(c *clusterv1.ManagedCluster) bool { return len(c.Spec.Taints) > 0 })
		reads := slices.ContainsFunc(expressionsOf(f.Placements[0]), func(e string) bool { return strings.Contains(e, "clusterClaims") })
		return tainted && reads
	}
	tried := 0
	for i := range 300 {
		f := Generate(3, i, size, now)
		f = f.Only(f.Placements[0])
		if !culprit(&f) {
			continue
		}
		tried++
		before := YAML(f)
		small, err := Shrink(f, 100, func(fleets []Fleet) ([]bool, error) {
			out := make([]bool, len(fleets))
			for i := range fleets {
				out[i] = culprit(&fleets[i])
			}
			return out, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p := small.Placements[0]
		if !culprit(&small) || len(small.Clusters) != 1 || len(small.Sets)+len(small.Bindings)+len(small.Scores) != 0 ||
			len(expressionsOf(p)) != 1 || len(p.Spec.Tolerations)+len(p.Spec.PrioritizerPolicy.Configurations) != 0 {
			t.Errorf("fleet %d shrinks to\n%s%s", i, small.YAML(), YAML(p))
		}
		if before != YAML(f) {
			t.Fatal("shrinking changed the fleet that it began with")
		}
	}
	if tried < 5 {
		t.Errorf("only %d fleets were tried", tried)
	}
}

func TestShrinkStops(t *testing.T) {
	f := Generate(3, 1, size, now)
	f = f.Only(f.Placements[0])
	same, err := Shrink(f, 100, func(fleets []Fleet) ([]bool, error) { return make([]bool, len(fleets)), nil })
	if err != nil || YAML(same) != YAML(f) {
		t.Errorf("nothing smaller differs, and yet it shrinks (%v)", err)
	}
	broken := errors.New("the hub is gone")
	if _, err := Shrink(f, 100, func([]Fleet) ([]bool, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestRenamed(t *testing.T) {
	f := Generate(3, 7, size, now)
	g, err := f.Renamed("s123")
	if err != nil {
		t.Fatal(err)
	}
	if text := g.YAML() + YAML(g.Placements); strings.Contains(text, f.Name) || !strings.Contains(text, "s123-c0") {
		t.Errorf("it still has the old name:\n%s", text)
	}
	back, err := g.Renamed(f.Name)
	if diff := cmp.Diff(YAML(f), YAML(back)); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
}

func TestContestsRepeat(t *testing.T) {
	seen := map[string]int{}
	for i := range 200 {
		f := Generate(3, i, size, now)
		c := f.Contest(3, i)
		if !cmp.Equal(c, f.Contest(3, i)) {
			t.Fatal("one seed gives two contests")
		}
		seen["mode "+string(c.Placement.Spec.PrioritizerPolicy.Mode)]++
		for _, config := range c.Placement.Spec.PrioritizerPolicy.Configurations {
			seen[config.ScoreCoordinate.BuiltIn]++
			if config.ScoreCoordinate.BuiltIn == "Steady" && config.Weight < 0 {
				t.Errorf("fleet %d: Steady has weight %d", i, config.Weight)
			}
			if config.ScoreCoordinate.BuiltIn == "Balance" && config.Weight < 0 {
				seen["negative Balance"]++
			}
		}
	}
	for _, want := range []string{"mode Additive", "mode Exact", "mode ", "Steady", "Balance", "negative Balance"} {
		if seen[want] < 10 {
			t.Errorf("200 contests have %q %d times", want, seen[want])
		}
	}
}
