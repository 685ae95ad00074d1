package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/process"
)

// Name is that of the service.
const Name = "hub-bridge"

// Command is the service's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(Name, "Carry state between the hub and the bus", o.AddFlags, func(ctx context.Context, rt process.Runtime) error {
		return Run(ctx, o, rt)
	})
}

// connectTimeout bounds the wait for the bus at the start.
const connectTimeout = time.Minute

// Run connects to the bus and the hub and works until ctx ends. It returns
// ErrLeaseLost when another replica may have taken over: start it again.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	bus, err := o.Bus.Connect(connecting, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	return RunOn(ctx, bus, o, rt)
}
