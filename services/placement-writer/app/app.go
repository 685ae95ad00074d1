// Package app is the placement-writer service: its options, and the one place
// that builds its clients.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/placement-writer/internal/writer"
)

// Options are what the placement-writer is started with.
type Options = decider.Options

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions() Options { return decider.DefaultOptions(writer.DefaultMaxInFlight) }

// Command is the placement-writer's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(writer.Service, "decide which clusters each Placement selects", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run decides until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	return decider.Run(ctx, o, rt, writer.New)
}

// RunOn is Run on a bus that is connected.
func RunOn(ctx context.Context, bus decider.Bus, o Options, rt process.Runtime) error {
	return decider.RunOn(ctx, bus, o, rt, writer.New)
}
