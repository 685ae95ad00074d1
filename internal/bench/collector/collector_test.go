package collector_test

import (
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/bench/benchtest"
	"github.com/spokewire/spokewire/internal/bench/collector"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

func TestRun(t *testing.T) {
	t.Parallel()
	r, err := collector.Run(t.Context(), benchtest.Env(t), collector.Options{Series: 60, Kept: 55, Interval: 100 * time.Millisecond, Scrapes: 10})
	if err != nil {
		t.Fatal(err)
	}
	benchtest.Check(t, r, map[string]int{"CPU time of a scrape": 1, "resident memory at its peak": 1})
}
