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
			result, err := demo(ctx, stack.DefaultOptions(), tour.Run, keep, c.ErrOrStderr(), c.OutOrStdout())
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), result)
			return nil
		},
	}
	c.PersistentFlags().BoolVar(&keep, "keep", false, "keep the stack's directory with its logs")
	c.AddCommand(newDemoScoring(&keep))
	return c
}

func newDemoScoring(keep *bool) *cobra.Command {
	return &cobra.Command{
		Use:   "scoring",
		Short: "Show, step by step, how OCM's DynamicScorers score clusters by a service of your own",
		Long: `Start a stack of three clusters, each with a Prometheus, and a scoring service;
create DynamicScorers on the hub as they are written for OCM, and see their
scores there and what is placed by them.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			o := stack.DefaultOptions()
			o.Prometheus = true
			result, err := demo(ctx, o, tour.Scoring, *keep, c.ErrOrStderr(), c.OutOrStdout())
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), result)
			return nil
		},
	}
}

// guided shows something on a running stack.
type guided[R any] func(ctx context.Context, s *stack.Stack, timeout time.Duration, w io.Writer) (R, error)

// demo runs a tour on a stack of three clusters in a temporary directory. The
// directory stays if something went wrong, for its logs.
func demo[R any](ctx context.Context, o stack.Options, show guided[R], keep bool, progress, shown io.Writer) (R, error) {
	var none R
	o.Spokes, o.Interval = 3, 100*time.Millisecond
	if err := withProgram(&o, progress); err != nil {
		return none, err
	}
	dir, err := os.MkdirTemp("", "spokewire-demo-")
	if err != nil {
		return none, err
	}
	o.DataDir = dir
	result, err := tourOf(ctx, o, show, shown)
	switch {
	case err != nil && ctx.Err() == nil:
		return none, fmt.Errorf("%w (logs are in %s)", err, filepath.Join(dir, "logs"))
	case keep:
		fmt.Fprintf(shown, "\nThe stack's directory is %s\n", dir)
		return result, err
	}
	return result, errors.Join(err, os.RemoveAll(dir))
}

func tourOf[R any](ctx context.Context, o stack.Options, show guided[R], shown io.Writer) (R, error) {
	s, err := stack.Up(ctx, o)
	if err != nil {
		var none R
		return none, err
	}
	result, err := show(ctx, s, demoTimeout, shown)
	return result, errors.Join(err, s.Stop())
}
