// Package app is the placement-writer service: its options, and the one place
// that builds its clients.
package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/placement-writer/internal/writer"
)

// Options are what the placement-writer is started with.
type Options struct {
	Bus process.BusOptions
	// MaxInFlight is how many decisions are published at a time.
	MaxInFlight int
}

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions() Options {
	return Options{Bus: process.DefaultBusOptions(), MaxInFlight: writer.DefaultMaxInFlight}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Bus.AddFlags(fs)
	fs.IntVar(&o.MaxInFlight, "max-in-flight", o.MaxInFlight, "how many decisions are published at a time")
}

// Validate says which option makes no sense.
func (o Options) Validate() error {
	if o.MaxInFlight < 1 || o.MaxInFlight > 4096 {
		return fmt.Errorf("--max-in-flight is %d, want 1 to 4096", o.MaxInFlight)
	}
	return o.Bus.Validate()
}

// Command is the placement-writer's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(writer.Service, "decide which clusters each Placement selects", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run decides until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	bus, err := o.Bus.Connect(ctx, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	w, err := writer.New(writer.Config{Bus: bus, Log: rt.Log, Metrics: rt.Metrics, Tracer: rt.Tracer, MaxInFlight: o.MaxInFlight})
	if err != nil {
		return err
	}
	rt.Health.Ready("streams", w.Ready)
	return w.Run(ctx)
}
