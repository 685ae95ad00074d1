package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/forward"
)

// Options of a collector: either ConfigFile, or one source by its fields.
type Options struct {
	Bus process.BusOptions
	// ConfigFile is the path of the configuration.
	ConfigFile string
	// Cluster, Source, Target, Interval and Keep are the configuration of
	// one source.
	Cluster, Source, Target string
	Interval                time.Duration
	Keep                    []string
	// ScoringHosts, ScoringPrometheus and TokenDir are those of
	// dynamicScoring; without the first two the hub's dynamic scorers are not
	// answered.
	ScoringHosts                []string
	ScoringPrometheus, TokenDir string
	// Outbox is the outbox's directory; it overrides the file's.
	Outbox string
	// BackfillRate bounds the superseded snapshots sent in a second.
	BackfillRate float64
}

// DefaultOptions scrapes nothing yet.
func DefaultOptions() Options {
	return Options{
		Bus:          process.DefaultBusOptions(),
		Interval:     config.DefaultInterval,
		BackfillRate: forward.DefaultBackfillRate,
	}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Bus.AddFlags(fs)
	fs.StringVar(&o.ConfigFile, "config", o.ConfigFile, "configuration file (YAML); without it, --cluster, --source and --target name one source")
	fs.StringVar(&o.Cluster, "cluster", o.Cluster, "name of this cluster on the hub")
	fs.StringVar(&o.Source, "source", o.Source, "name of the source")
	fs.StringVar(&o.Target, "target", o.Target, "URL of the source's Prometheus endpoint")
	fs.DurationVar(&o.Interval, "interval", o.Interval, "time between scrapes of --target")
	fs.StringArrayVar(&o.Keep, "keep", o.Keep, "regular expression of metric names to keep of --target (repeatable; default: all)")
	fs.StringArrayVar(&o.ScoringHosts, "scoring-host", o.ScoringHosts, "host that may be asked for the hub's dynamic scorers: HOST, HOST:PORT or *.DOMAIN (repeatable; default: none)")
	fs.StringVar(&o.ScoringPrometheus, "scoring-prometheus", o.ScoringPrometheus, "URL of this cluster's Prometheus, asked in place of the one that dynamic scorers name")
	fs.StringVar(&o.TokenDir, "token-dir", o.TokenDir, "directory of the tokens that dynamic scorers name: the key K of Secret S is the file S/K")
	fs.StringVar(&o.Outbox, "outbox", o.Outbox, "directory where snapshots wait for the hub; overrides outbox.dir of --config")
	fs.Float64Var(&o.BackfillRate, "backfill-rate", o.BackfillRate, "how many snapshots of an outage are sent in a second")
}

// Validate names the flag or field that is wrong.
func (o Options) Validate() error {
	_, err := o.configuration()
	return err
}

// configuration returns the valid configuration that the options ask for.
func (o Options) configuration() (config.Config, error) {
	if o.BackfillRate <= 0 {
		return config.Config{}, fmt.Errorf("--backfill-rate is %v, want more than 0", o.BackfillRate)
	}
	if err := o.Bus.Validate(); err != nil {
		return config.Config{}, err
	}
	if o.ConfigFile == "" {
		return o.single()
	}
	if o.Cluster != "" || o.Source != "" || o.Target != "" || len(o.Keep) > 0 {
		return config.Config{}, errors.New("--config and --cluster, --source, --target or --keep are both given, want one")
	}
	if len(o.ScoringHosts) > 0 || o.ScoringPrometheus != "" || o.TokenDir != "" {
		return config.Config{}, errors.New("--config and --scoring-host, --scoring-prometheus or --token-dir are both given: set dynamicScoring in the file")
	}
	return config.Load(o.ConfigFile, o.Outbox)
}

// single is the configuration of one source by flags.
func (o Options) single() (config.Config, error) {
	for _, flag := range []struct{ name, value string }{
		{"cluster", o.Cluster}, {"source", o.Source}, {"target", o.Target}, {"outbox", o.Outbox},
	} {
		if flag.value == "" {
			return config.Config{}, fmt.Errorf("--%s is missing (or give --config)", flag.name)
		}
	}
	c := config.Config{
		Cluster: o.Cluster,
		Sources: []config.Source{{Name: o.Source, URL: o.Target, Interval: config.Of(o.Interval), Keep: o.Keep}},
		Outbox:  config.Outbox{Dir: o.Outbox},
	}
	if len(o.ScoringHosts) > 0 || o.ScoringPrometheus != "" {
		c.DynamicScoring = &config.DynamicScoring{Hosts: o.ScoringHosts, Prometheus: o.ScoringPrometheus, TokenDir: o.TokenDir}
	}
	c.Default()
	if err := c.Validate(); err != nil {
		return config.Config{}, fmt.Errorf("flags: %w", err)
	}
	return c, nil
}

// Command returns the collector's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command("collector", "Collect metrics of a cluster and forward the snapshots to the hub", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}
