// Package benchtest has the tests of benchmarks run on this very program.
package benchtest

import (
	"os"
	"testing"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/internal/hub/hubtest"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/stack"
)

const asProgram = "SPOKEWIRE_BENCH_PROGRAM"

// Main runs a package's tests; the stack's processes run the same binary.
func Main(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(process.Main(program()))
	}
	if err := os.Setenv(asProgram, "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func program() *cobra.Command {
	root := &cobra.Command{Use: "spokewire", SilenceUsage: true, SilenceErrors: true}
	run, benches := &cobra.Command{Use: "run"}, &cobra.Command{Use: "bench"}
	run.AddCommand(stack.Commands()...)
	benches.AddCommand(wire.Command())
	root.AddCommand(run, benches)
	return root
}

// Env is that of a test.
func Env(t *testing.T) rig.Env {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return rig.Env{Executable: executable, BinDir: hubtest.BinDir(), Progress: t.Output()}
}

// Check fails unless each of the measures is there with so many samples, and
// none of them is 0 or less.
func Check(t *testing.T, r bench.Result, want map[string]int) {
	t.Helper()
	found := map[string]bench.Measure{}
	for _, m := range r.Measures {
		found[m.Name] = m
		t.Logf("%v", m.Cells())
	}
	for name, n := range want {
		m, ok := found[name]
		if !ok || len(m.Samples) != n {
			t.Errorf("measure %q has %d samples, want %d", name, len(m.Samples), n)
		}
		for _, v := range m.Samples {
			if v <= 0 {
				t.Errorf("measure %q has a sample of %v, want more than 0", name, v)
			}
		}
	}
	if r.Title == "" || len(r.About) == 0 {
		t.Errorf("the result says nothing of what was measured: %q, %q", r.Title, r.About)
	}
}
