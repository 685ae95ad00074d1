package cli

import (
	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/stack"
)

// newRun has one command for each process of the stack.
func newRun() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Run one service in this process, as `up` does for each",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(stack.Commands()...)
	return c
}
