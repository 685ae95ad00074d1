package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
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
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			result, err := demo(ctx, keep, c.ErrOrStderr(), c.OutOrStdout())
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), result)
			return nil
		},
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the stack's directory with its logs")
	return c
}

// demo runs the tour on a stack in a temporary directory. The directory stays
// if something went wrong, for its logs.
func demo(ctx context.Context, keep bool, progress, shown io.Writer) (tour.Result, error) {
	o := stack.DefaultOptions()
	o.Spokes, o.Interval = 3, 100*time.Millisecond
	if err := withProgram(&o, progress); err != nil {
		return tour.Result{}, err
	}
	dir, err := os.MkdirTemp("", "spokewire-demo-")
	if err != nil {
		return tour.Result{}, err
	}
	o.DataDir = dir
	result, err := tourOf(ctx, o, shown)
	switch {
	case err != nil && ctx.Err() == nil:
		return tour.Result{}, fmt.Errorf("%w (logs are in %s)", err, filepath.Join(dir, "logs"))
	case keep:
		fmt.Fprintf(shown, "\nThe stack's directory is %s\n", dir)
		return result, err
	}
	return result, errors.Join(err, os.RemoveAll(dir))
}

func tourOf(ctx context.Context, o stack.Options, shown io.Writer) (tour.Result, error) {
	s, err := stack.Up(ctx, o)
	if err != nil {
		return tour.Result{}, err
	}
	result, err := tour.Run(ctx, s, demoTimeout, shown)
	return result, errors.Join(err, s.Stop())
}
