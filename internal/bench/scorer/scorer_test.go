package scorer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/bench/benchtest"
	"github.com/spokewire/spokewire/internal/bench/scorer"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

func TestRun(t *testing.T) {
	t.Parallel()
	o := scorer.DefaultOptions()
	o.Clusters, o.Events, o.Rounds, o.Rate, o.Live = 5, 200, 2, 100, time.Second
	r, err := scorer.Run(t.Context(), benchtest.Env(t), o)
	if err != nil {
		t.Fatal(err)
	}
	benchtest.Check(t, r, map[string]int{
		"scorer": 2, "plain consumer, encoding/json": 2, "scorer by plain consumer, all checks": 2, "live: scored": 1,
	})
	if about := strings.Join(r.About, " "); !strings.Contains(about, " 3.5% of the events") {
		t.Errorf("it is about %s, want 3.5%%", about)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	o := scorer.DefaultOptions()
	o.Events = 2 * o.Clusters
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "--events") {
		t.Errorf("Validate() = %v, want an error that names --events", err)
	}
}
