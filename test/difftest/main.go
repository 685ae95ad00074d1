// Difftest decides generated Placements by OCM's own placement controller and
// by Spokewire, on one hub, and fails if any two answers differ:
//
//	make difftest CASES=1000 SEED=7
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"

	"github.com/spokewire/spokewire/cmd/spokewire/cli"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
	"github.com/spokewire/spokewire/test/difftest/twin"
)

// asProgram makes this program behave as spokewire, for the processes of the
// stack.
const asProgram = "SPOKEWIRE_DIFFTEST_PROGRAM"

func main() {
	if os.Getenv(asProgram) != "" {
		os.Exit(process.Main(cli.New()))
	}
	os.Exit(run())
}

func run() int {
	o := twin.DefaultOptions()
	bin := pflag.String("bin", "bin", "directory of the pinned programs")
	pflag.IntVar(&o.Cases, "cases", o.Cases, "how many Placements to decide")
	pflag.Uint64Var(&o.Seed, "seed", o.Seed, "which ones")
	pflag.IntVar(&o.Case, "case", o.Case, "run this case alone (-1: all)")
	pflag.Parse()
	began := time.Now()
	o.Progress = func(format string, args ...any) {
		fmt.Printf("%6s  %s\n", time.Since(began).Round(time.Second), fmt.Sprintf(format, args...))
	}
	if o.Case >= o.Cases {
		o.Cases = o.Case + 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := compare(ctx, *bin, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "difftest:", err)
		return 1
	}
	fmt.Printf("known differences: %v\nOCM's answers: %v, %d with several pages\n%s\n", s.Reasons, s.Outcomes, s.Pages, s)
	if s.Differences > 0 || s.Cases == 0 {
		return 1
	}
	return 0
}

// compare runs the cases on a stack of its own, whose logs stay if anything
// goes wrong.
func compare(ctx context.Context, bin string, o twin.Options) (summary twin.Summary, err error) {
	dir, err := os.MkdirTemp("", "difftest-")
	if err != nil {
		return summary, err
	}
	s, err := up(ctx, bin, dir, o.Progress)
	if err != nil {
		return summary, fmt.Errorf("%w; logs are in %s", err, filepath.Join(dir, "logs"))
	}
	defer func() {
		if err = errors.Join(err, s.Stop()); err != nil || summary.Differences > 0 {
			fmt.Fprintln(os.Stderr, "logs are in", filepath.Join(dir, "logs"))
			return
		}
		err = os.RemoveAll(dir)
	}()
	hub, closeBus, err := hubOf(ctx, s)
	if err != nil {
		return summary, err
	}
	defer closeBus()
	return twin.Run(ctx, hub, o)
}

func up(ctx context.Context, bin, dir string, progress func(string, ...any)) (*stack.Stack, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return nil, err
	}
	if err := os.Setenv(asProgram, "1"); err != nil {
		return nil, err
	}
	o := stack.DefaultOptions()
	o.Executable, o.BinDir, o.DataDir, o.Spokes, o.OCM = executable, bin, dir, 0, true
	o.Log = slog.New(slog.DiscardHandler)
	o.Progress = func(step string) { progress("%s", step) }
	return stack.Up(ctx, o)
}

func hubOf(ctx context.Context, s *stack.Stack) (twin.Hub, func(), error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		return twin.Hub{}, nil, err
	}
	config.QPS, config.Burst = 1000, 2000
	ocm, err := clusterclient.NewForConfig(config)
	if err != nil {
		return twin.Hub{}, nil, err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return twin.Hub{}, nil, err
	}
	url, err := s.OperatorURL()
	if err != nil {
		return twin.Hub{}, nil, err
	}
	bus, err := jetstream.Connect(ctx, jetstream.Options{URL: url, Name: "difftest", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return twin.Hub{}, nil, err
	}
	return twin.Hub{OCM: ocm, Core: core, Bus: bus}, bus.Close, nil
}
