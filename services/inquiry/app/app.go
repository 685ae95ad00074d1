// Package app is the inquiry service: its options, and the one place that
// builds its clients.
package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/inquiry/internal/desk"
)

// Service is the service's name on the bus.
const Service = "inquiry"

// version is that of what is asked and answered.
const version = "1.0.0"

// Options are what the service is started with.
type Options struct {
	Bus process.BusOptions
	// Concurrency is how many questions are answered at a time.
	Concurrency int
	// Timeout bounds one answer.
	Timeout time.Duration
}

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions() Options {
	return Options{Bus: process.DefaultBusOptions(), Concurrency: 4, Timeout: 30 * time.Second}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Bus.AddFlags(fs)
	fs.IntVar(&o.Concurrency, "concurrency", o.Concurrency, "how many questions are answered at a time; four times as many may wait")
	fs.DurationVar(&o.Timeout, "timeout", o.Timeout, "how long one answer may take")
}

// Validate says which option makes no sense.
func (o Options) Validate() error {
	return cmp.Or(
		bound.Within("--concurrency", o.Concurrency, 1, 64),
		bound.Within("--timeout", o.Timeout, time.Second, 10*time.Minute),
		o.Bus.Validate(),
	)
}

// Command is the service's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(Service, "answer why something was decided, and what would be if", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run answers until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	bus, err := o.Bus.Connect(ctx, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	d, err := desk.New(bus)
	if err != nil {
		return err
	}
	counts, err := newTelemetry(rt.Metrics)
	if err != nil {
		return err
	}
	rt.Health.Ready("bus", func() error {
		if !bus.Connected() {
			return errors.New("not connected to NATS")
		}
		return nil
	})
	return bus.Respond(ctx, events.Service{
		Name: Service, Version: version, Description: "Answers questions about decisions of Placements; writes nothing.",
		Endpoints: counts.counted(d.Endpoints()), Timeout: o.Timeout, Concurrency: o.Concurrency, Waiting: 4 * o.Concurrency,
	})
}
