// Package cli is the command line of spokewire, one command a file. A
// command parses its arguments, reads or publishes by package events, and
// prints; what it prints is worked out in packages without a bus.
package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/process"
)

// app is what the flags that all commands share add up to.
type app struct {
	bus process.BusOptions
	// timeout bounds one command; watch follows for ever unless it is given.
	timeout time.Duration
	output  string
}

// New returns the command line. It reads NATS_URL.
func New() *cobra.Command {
	a := &app{bus: process.DefaultBusOptions(), timeout: 10 * time.Second, output: outputTable}
	root := &cobra.Command{
		Use:               "spokewire",
		Short:             "Live metrics of many clusters become Open Cluster Management decisions",
		Args:              cobra.NoArgs,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.validate() },
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w (see: %s --help)", err, c.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(stackCommands()...)
	root.AddCommand(
		a.newEnv(),
		a.newPublish(), a.newWatch(), a.newGet(), a.newExplain(), a.newCompare(), a.newWhatIf(), a.newReplay(), a.newMCP(),
		a.newApply(), a.newDelete(),
		a.newCordon(), a.newUncordon(), a.newDrain(), a.newRebalance(),
		a.newScorer(), a.newSchema(), a.newStreams(), a.newDead(), a.newDoctor(), a.newHealth(), a.newBench(), a.newVersion(),
	)
	return root
}

// addOutput adds -o, which every command that prints data has.
func (a *app) addOutput(c *cobra.Command) {
	c.Flags().StringVarP(&a.output, "output", "o", a.output, "table, json or yaml")
}

// addBus adds the flags of a command that needs the bus.
func (a *app) addBus(c *cobra.Command) {
	a.bus.AddFlags(c.Flags())
	c.Flags().DurationVar(&a.timeout, "timeout", a.timeout, "how long the command may take")
}
