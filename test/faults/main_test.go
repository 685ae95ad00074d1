// Package faults breaks Spokewire at seeded random moments while metrics
// flow, and checks afterwards what must hold: the invariants of
// docs/architecture.md, by a fold of the log that knows no code of the
// services. Every service, NATS, the API server and etcd are processes of
// their own. docs/faults.md says what is done and what is promised for it.
package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/stack"
)

// asProgram makes this test binary run the processes of a stack, so that they
// are under the race detector too.
const asProgram = "SPOKEWIRE_FAULTS_PROGRAM"

// run is this run's seed and for how long it goes on: without MINUTES each
// scenario is played once, in its short form.
type run struct {
	seed    uint64
	minutes time.Duration

	rounds, violations atomic.Int32
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(process.Main(program()))
	}
	if err := errors.Join(os.Setenv(asProgram, "1"), readRun()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	status := m.Run()
	if rounds := played.rounds.Load(); rounds > 0 {
		fmt.Printf("faults: rounds=%d violations=%d seed=%d\n", rounds, played.violations.Load(), played.seed)
	}
	os.Exit(status)
}

// program is what the stack needs of the spokewire program.
func program() *cobra.Command {
	run := &cobra.Command{Use: "run"}
	run.AddCommand(stack.Commands()...)
	root := &cobra.Command{Use: "spokewire"}
	root.AddCommand(run)
	return root
}

// played is what this process does and has done.
var played run

// readRun reads SEED and MINUTES, and checks SCENARIO.
func readRun() error {
	played.seed = rand.Uint64()
	if text := os.Getenv("SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("SEED is %q, want a whole number from 0", text)
		}
		played.seed = seed
	}
	if text := os.Getenv("MINUTES"); text != "" {
		minutes, err := strconv.ParseFloat(text, 64)
		if err != nil || minutes <= 0 {
			return fmt.Errorf("MINUTES is %q, want a number above 0", text)
		}
		played.minutes = time.Duration(minutes * float64(time.Minute))
	}
	var names []string
	for _, st := range stages() {
		for _, s := range st.scenarios {
			names = append(names, s.name)
		}
	}
	if only := os.Getenv("SCENARIO"); only != "" && !slices.Contains(names, only) {
		return fmt.Errorf("SCENARIO is %q, want one of %s", only, strings.Join(names, ", "))
	}
	return nil
}

func (r *run) long() bool { return r.minutes > 0 }
