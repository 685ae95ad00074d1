package move_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/benchtest"
	"github.com/spokewire/spokewire/internal/bench/move"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

func TestRun(t *testing.T) {
	t.Parallel()
	o := move.DefaultOptions()
	o.Clusters, o.Placements, o.Rounds, o.Blocks, o.Gap = 5, 3, 4, 2, time.Millisecond
	o.Background, o.ScoreWrites = 50, 20
	o.OCM, o.OCMQPS = true, []string{"lifted"}
	r, err := move.Run(t.Context(), benchtest.Env(t), o)
	if err != nil {
		t.Fatal(err)
	}
	benchtest.Check(t, r, map[string]int{
		"Spokewire: first moved": 4, "Spokewire: all moved": 4, "OCM, client limits lifted: all moved": 4,
		"times faster than OCM, client limits lifted, all moved": 2,
		"Spokewire: metric events scored":                        2, "Spokewire: writes to the hub": 2,
		"OCM, client limits lifted: background: scores written to the hub": 2,
	})
}

func TestRunOfManyScores(t *testing.T) {
	t.Parallel()
	o := move.DefaultOptions()
	o.Clusters, o.Placements, o.Scores, o.Rounds, o.Blocks, o.Gap = 4, 13, 12, 2, 1, time.Millisecond
	o.HubScores, o.OCM, o.OCMQPS = false, true, []string{"lifted"}
	r, err := move.Run(t.Context(), benchtest.Env(t), o)
	if err != nil {
		t.Fatal(err)
	}
	benchtest.Check(t, r, map[string]int{
		"Spokewire: all moved": 2, "OCM, client limits lifted: all moved": 2, "Spokewire: placement-writer: resident": 1,
	})
	text := bench.Render([]bench.Named{{Name: "a.json", Result: r}})
	if !strings.Contains(text, "| 4 clusters of 12 scores, 13 Placements | ") || strings.Count(text, " - ") != 3 {
		t.Errorf("want a row of the table, with the three medians that were not measured as -:\n%s", text)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for flag, change := range map[string]func(*move.Options){
		"--scores":           func(o *move.Options) { o.Scores, o.Background = 2, 1000 },
		"--clusters":         func(o *move.Options) { o.Clusters = 2 },
		"--rounds":           func(o *move.Options) { o.Rounds = 1 },
		"--background":       func(o *move.Options) { o.Background = 1 },
		"--ocm-qps":          func(o *move.Options) { o.OCMQPS = []string{"some"} },
		"--background-score": func(o *move.Options) { o.BackgroundScore = "any" },
	} {
		o := move.DefaultOptions()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("Validate() = %v, want an error that names %s", err, flag)
		}
	}
}
