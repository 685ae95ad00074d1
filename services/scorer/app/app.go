// Package app is the scorer service: its options, and the one place that
// builds its clients.
package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/scoringapi"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/scorer/internal/asker"
	"github.com/spokewire/spokewire/services/scorer/internal/engine"
	"github.com/spokewire/spokewire/services/scorer/internal/roster"
)

// Options are what the scorer is started with.
type Options struct {
	decider.Options
	// TokenDir holds the tokens of scoring APIs: the key K of Secret S is the
	// file S/K. "" is none.
	TokenDir string
	// ScoringCA is the path of PEM certificates that scoring APIs are trusted
	// by, "" for the system's.
	ScoringCA string
	// ScoringHosts, if any, are the only ones that are called.
	ScoringHosts []string
}

// DefaultOptions reaches the bus that the environment names.
func DefaultOptions() Options {
	return Options{Options: decider.DefaultOptions(engine.DefaultMaxInFlight)}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Options.AddFlags(fs)
	fs.StringVar(&o.TokenDir, "token-dir", o.TokenDir, "directory of the tokens of scoring APIs: the key K of Secret S is the file S/K")
	fs.StringVar(&o.ScoringCA, "scoring-ca", o.ScoringCA, "CA file for the certificates of scoring APIs (default: the system's)")
	fs.StringArrayVar(&o.ScoringHosts, "scoring-host", o.ScoringHosts, "host of scoring APIs that may be called: HOST, HOST:PORT or *.DOMAIN (repeatable; default: any)")
}

// Command is the scorer's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(engine.Service, "compute scores of clusters from their metrics, labels and claims, or ask scoring APIs for them", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run scores until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	bus, err := o.Bus.Connect(ctx, rt)
	if err != nil {
		return err
	}
	defer bus.Close()
	return RunOn(ctx, bus, o, rt)
}

// Bus is what the scorer needs of one.
type Bus interface {
	decider.Bus
	events.Requester
}

// RunOn is Run on a bus that is connected. The part that asks over HTTP has
// its own snapshot and its own pace, so that nothing it waits for holds up
// the expressions.
func RunOn(ctx context.Context, bus Bus, o Options, rt process.Runtime) error {
	api, err := scoringapi.New(scoringapi.Options{
		Tokens: scoringapi.Tokens(o.TokenDir), CAFile: o.ScoringCA, Hosts: o.ScoringHosts, UserAgent: "spokewire-scorer",
	})
	if err != nil {
		return fmt.Errorf("--scoring-ca or --scoring-host: %w", err)
	}
	defer api.Close()
	config := decider.Config{Bus: bus, Log: rt.Log, Metrics: rt.Metrics, Tracer: rt.Tracer, MaxInFlight: o.MaxInFlight}
	expressions, err := engine.New(config)
	if err != nil {
		return err
	}
	expressions.Roster = roster.New()
	asking, err := asker.New(config, asker.Options{API: api, Clusters: bus, Roster: expressions.Roster})
	if err != nil {
		return err
	}
	rt.Health.Ready("streams", expressions.Ready)
	rt.Health.Ready("dynamic-scoring", asking.Ready)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return expressions.Run(ctx) })
	group.Go(func() error { return asking.Run(ctx) })
	return group.Wait()
}
