package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/collector"
	"github.com/spokewire/spokewire/internal/bench/decide"
	"github.com/spokewire/spokewire/internal/bench/flap"
	"github.com/spokewire/spokewire/internal/bench/move"
	"github.com/spokewire/spokewire/internal/bench/proc"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bench/scale"
	"github.com/spokewire/spokewire/internal/bench/scorer"
	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/internal/table"
)

const benchLong = `Measure Spokewire on this machine, on real parts: a stack of its own in a
temporary directory, each part a process. Nothing that runs already is touched.

What is compared with something else is measured beside it in the same run.
Run it on a quiet machine: the load before the run is kept with the result.`

func (a *app) newBench() *cobra.Command {
	c := &cobra.Command{
		Use:     "bench SUBJECT",
		Short:   "Measure how fast Spokewire is here, and what it needs",
		Long:    benchLong,
		Example: "  spokewire bench move --clusters 1000 --background 10000 --ocm",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	m, s, d, k, l := move.DefaultOptions(), scorer.DefaultOptions(), decide.DefaultOptions(), collector.DefaultOptions(), scale.DefaultOptions()
	f := flap.DefaultOptions()
	c.AddCommand(
		newBenchReport(), wire.Command(),
		a.newSubject("move", "From a metric to PlacementDecisions that have moved, beside OCM's placement controller", m.AddFlags,
			func(ctx context.Context, env rig.Env) (bench.Result, error) { return measure(ctx, env, m, move.Run) }),
		a.newSubject("scorer", "Metric events scored a second, beside a consumer that only decodes them", s.AddFlags,
			func(ctx context.Context, env rig.Env) (bench.Result, error) { return measure(ctx, env, s, scorer.Run) }),
		a.newSubject("decide", "The deciding of one Placement after one changed score, in memory", d.AddFlags,
			func(ctx context.Context, env rig.Env) (bench.Result, error) { return measure(ctx, env, d, decide.Run) }),
		a.newSubject("flap", "What flap control moves, and what staying costs, beside OCM's Steady, in memory", f.AddFlags,
			func(ctx context.Context, env rig.Env) (bench.Result, error) { return measure(ctx, env, f, flap.Run) }),
		a.newSubject("collector", "What a collector needs", k.AddFlags,
			func(ctx context.Context, env rig.Env) (bench.Result, error) {
				return measure(ctx, env, k, collector.Run)
			}),
		a.newSubject("scale", "Memory of the hub's services, and their cold start", l.AddFlags,
			func(ctx context.Context, env rig.Env) (bench.Result, error) { return measure(ctx, env, l, scale.Run) }),
	)
	return c
}

// measure runs with options that are valid.
func measure[O interface{ Validate() error }](ctx context.Context, env rig.Env, o O, run func(context.Context, rig.Env, O) (bench.Result, error)) (bench.Result, error) {
	if err := o.Validate(); err != nil {
		return bench.Result{}, err
	}
	return run(ctx, env, o)
}

func (a *app) newSubject(name, short string, addFlags func(*pflag.FlagSet), run func(context.Context, rig.Env) (bench.Result, error)) *cobra.Command {
	env, save := rig.Env{}, ""
	c := &cobra.Command{Use: name, Short: short, Args: cobra.NoArgs}
	addFlags(c.Flags())
	c.Flags().SortFlags = false
	own := ownFlags(c.Flags())
	c.Flags().StringVar(&save, "save", "", "write the result, with all samples, to this file")
	c.Flags().StringVar(&env.ProfileDir, "profile", "", "write profiles of the services into this directory")
	c.Flags().BoolVar(&env.Keep, "keep", false, "keep the stack's directory with its logs")
	a.addOutput(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		executable, err := os.Executable()
		if err != nil {
			return err
		}
		env.Executable, env.BinDir, env.Progress = executable, binDir(executable), c.ErrOrStderr()
		env.ServiceDir = filepath.Join(env.BinDir, "service")
		machine, now := proc.Machine(), time.Now().UTC().Truncate(time.Second)
		result, err := run(ctx, env)
		if err != nil {
			return err
		}
		result.Subject, result.Machine, result.Date = name, machine, now
		result.Command = commandLine(c, own)
		if err := saveResult(save, result); err != nil {
			return err
		}
		if err := a.print(c.OutOrStdout(), result, func(w io.Writer) error { return writeResult(w, result) }); err != nil {
			return err
		}
		if result.Failure != "" {
			return errors.New(result.Failure)
		}
		return nil
	}
	return c
}

// ownFlags names the flags that say what is measured.
func ownFlags(fs *pflag.FlagSet) map[string]bool {
	own := map[string]bool{}
	fs.VisitAll(func(f *pflag.Flag) { own[f.Name] = true })
	return own
}

// commandLine is what to type to measure the same again.
func commandLine(c *cobra.Command, own map[string]bool) string {
	words := []string{c.CommandPath()}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !own[f.Name] {
			return
		}
		switch value := strings.Trim(f.Value.String(), "[]"); {
		case f.Value.Type() != "bool":
			words = append(words, "--"+f.Name, value)
		case value == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"="+value)
		}
	})
	return strings.Join(words, " ")
}

func saveResult(file string, r bench.Result) error {
	if file == "" {
		return nil
	}
	text, err := bench.Encode(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

func writeResult(w io.Writer, r bench.Result) error {
	fmt.Fprintf(w, "%s\n\n", r.Title)
	t := table.New(w, bench.Columns()...)
	for i := range r.Measures {
		t.Add(r.Measures[i].Cells()...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s; load before: %.1f\n", r.Machine, r.Machine.Load)
	if r.Summary != "" {
		fmt.Fprintln(w, r.Summary)
	}
	return nil
}

func newBenchReport() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Write a document of the results in a directory",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			results, err := bench.ReadDir(os.DirFS(args[0]))
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			_, err = io.WriteString(c.OutOrStdout(), bench.Render(results))
			return err
		},
	}
}
