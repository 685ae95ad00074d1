package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/tour"
)

// demoTimeout bounds the tour once the stack runs.
const demoTimeout = 3 * time.Minute

func newDemo() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show, step by step, how metrics of three clusters become decisions on a hub",
		Long: `Start a stack of three clusters in a temporary directory and go through what
Spokewire does: score the clusters, place on the best one, give it work, see
the decision move, and see why. What is shown is read from the hub.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			dir, err := os.MkdirTemp("", "spokewire-demo-")
			if err != nil {
				return err
			}
			o := stack.DefaultOptions()
			o.DataDir, o.Spokes, o.Interval = dir, 3, 100*time.Millisecond
			s, err := startStack(ctx, o, c.ErrOrStderr())
			if err != nil {
				return err
			}
			result, tourErr := tour.Run(ctx, s, demoTimeout, c.OutOrStdout())
			if err := errors.Join(tourErr, s.Stop()); err != nil {
				return fmt.Errorf("%w (logs are in %s)", err, dir)
			}
			if !keep {
				if err := os.RemoveAll(dir); err != nil {
					return err
				}
			}
			fmt.Fprintln(c.OutOrStdout(), result)
			return nil
		},
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the stack's directory with its logs")
	return c
}
