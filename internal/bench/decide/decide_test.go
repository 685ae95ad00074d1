package decide

import (
	"testing"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/benchtest"
)

func TestDecidingIsMeasured(t *testing.T) {
	t.Parallel()
	c, err := newCase(100, 10)
	if err != nil {
		t.Fatal(err)
	}
	d := c.ranking.Decision()
	if len(d.Clusters) != 10 || d.Considered != 100 {
		t.Fatalf("the case selects %d of %d clusters, want 10 of 100", len(d.Clusters), d.Considered)
	}
	c.set(0, 101)
	c.ranking.Refresh(c.now)
	if got := c.ranking.Decision().Clusters[0].Name; got != "spoke-00000" {
		t.Errorf("the best cluster is %s after its score was raised, want spoke-00000", got)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), benchtest.Env(t), Options{Clusters: 100, Samples: 1})
	if err != nil {
		t.Fatal(err)
	}
	benchtest.Check(t, r, map[string]int{"1 of 100 clusters": 1, "10 of 10 clusters": 1, "all of 100 clusters": 1})
	if m := r.Measures[0]; m.Unit != bench.Nanoseconds || m.Target != nil {
		t.Errorf("the first measure is %+v, want nanoseconds of the smaller fleet, without a target", m)
	}
}
