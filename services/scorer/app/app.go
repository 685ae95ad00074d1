// Package app is the scorer service: its options, and the one place that
// builds its clients.
package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/scorer/internal/engine"
)

// Options are what the scorer is started with.
type Options = decider.Options

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions() Options { return decider.DefaultOptions(engine.DefaultMaxInFlight) }

// Command is the scorer's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(engine.Service, "compute scores of clusters from their metrics, labels and claims", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run scores until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	return decider.Run(ctx, o, rt, engine.New)
}

// RunOn is Run on a bus that is connected.
func RunOn(ctx context.Context, bus decider.Bus, o Options, rt process.Runtime) error {
	return decider.RunOn(ctx, bus, o, rt, engine.New)
}
