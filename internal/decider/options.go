package decider

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/process"
)

// Options are what a service that decides is started with.
type Options struct {
	Bus process.BusOptions
	// MaxInFlight is how many events are published at a time, one per
	// subject.
	MaxInFlight int
}

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions(maxInFlight int) Options {
	return Options{Bus: process.DefaultBusOptions(), MaxInFlight: maxInFlight}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Bus.AddFlags(fs)
	fs.IntVar(&o.MaxInFlight, "max-in-flight", o.MaxInFlight, "how many events are published at a time")
}

// Validate says which option makes no sense.
func (o Options) Validate() error {
	return cmp.Or(bound.Within("--max-in-flight", o.MaxInFlight, 1, 4096), o.Bus.Validate())
}

// Service is a decider that runs.
type Service interface {
	Run(context.Context) error
	Ready() error
}

// Run connects to the bus and runs what build makes until ctx ends.
func Run[S Service](ctx context.Context, o Options, rt process.Runtime, build func(Config) (S, error)) error {
	if err := o.Validate(); err != nil {
		return err
	}
	bus, err := o.Bus.Connect(ctx, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	return RunOn(ctx, bus, o, rt, build)
}

// RunOn runs what build makes, on a bus that is connected, until ctx ends.
func RunOn[S Service](ctx context.Context, bus Bus, o Options, rt process.Runtime, build func(Config) (S, error)) error {
	s, err := build(Config{Bus: bus, Log: rt.Log, Metrics: rt.Metrics, Tracer: rt.Tracer, MaxInFlight: o.MaxInFlight})
	if err != nil {
		return err
	}
	rt.Health.Ready("streams", s.Ready)
	return s.Run(ctx)
}
