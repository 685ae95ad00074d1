package scale_test

import (
	"testing"

	"github.com/spokewire/spokewire/internal/bench/benchtest"
	"github.com/spokewire/spokewire/internal/bench/scale"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

func TestRun(t *testing.T) {
	t.Parallel()
	o := scale.DefaultOptions()
	o.Clusters, o.Series, o.Scores, o.Placements, o.Restarts = 5, 12, 11, 12, 1
	r, err := scale.Run(t.Context(), benchtest.Env(t), o)
	if err != nil {
		t.Fatal(err)
	}
	benchtest.Check(t, r, map[string]int{
		"hub services together: resident": 2, "nats: resident": 2, "hub-bridge: peak": 2,
		"cold start to first correct decision": 1, "cold start to all PlacementDecisions moved": 1,
	})
}
