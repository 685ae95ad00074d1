// Package app is the scorer service: its options, and the one place that
// builds its clients.
package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/scorer/internal/engine"
)

// Options are what the scorer is started with.
type Options struct {
	Bus process.BusOptions
	// MaxInFlight is how many scores are published at a time.
	MaxInFlight int
}

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions() Options {
	return Options{Bus: process.DefaultBusOptions(), MaxInFlight: engine.DefaultMaxInFlight}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Bus.AddFlags(fs)
	fs.IntVar(&o.MaxInFlight, "max-in-flight", o.MaxInFlight, "how many scores are published at a time")
}

// Validate says which option makes no sense.
func (o Options) Validate() error {
	if o.MaxInFlight < 1 || o.MaxInFlight > 4096 {
		return fmt.Errorf("--max-in-flight is %d, want 1 to 4096", o.MaxInFlight)
	}
	return o.Bus.Validate()
}

// Command is the scorer's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(engine.Service, "compute scores of clusters from their metrics, labels and claims", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run scores until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	bus, err := o.Bus.Connect(ctx, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	e, err := engine.New(engine.Config{Bus: bus, Log: rt.Log, Metrics: rt.Metrics, Tracer: rt.Tracer, MaxInFlight: o.MaxInFlight})
	if err != nil {
		return err
	}
	rt.Health.Ready("streams", e.Ready)
	return e.Run(ctx)
}
