// Package app is the llm-scorer: its options, and the one place that builds
// its parts.
package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/config"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/desk"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/model"
	"github.com/spokewire/spokewire/services/llm-scorer/internal/record"
)

// Service is the service's name.
const Service = "llm-scorer"

// Options are what the service is started with.
type Options struct {
	// ConfigFile is the path of the configuration.
	ConfigFile string
	// Ready, if set, is told the address once it listens.
	Ready func(address string)
}

// DefaultOptions name nothing.
func DefaultOptions() Options { return Options{} }

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.ConfigFile, "config", o.ConfigFile, "configuration file (YAML)")
}

// Validate says which option makes no sense.
func (o Options) Validate() error {
	if o.ConfigFile == "" {
		return errors.New("--config is missing: name a configuration file (docs/llm-scorers.md has one)")
	}
	return nil
}

// Command is the service's command line.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command(Service, "score clusters by what a language model says of their metrics, as a scoring API", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// shutdown is how long answers under way may take at the end.
const shutdown = 5 * time.Second

// Run serves until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	c, err := config.Load(o.ConfigFile)
	if err != nil {
		return err
	}
	records, err := record.Open(c.Records.Dir, c.Records.Max, rt.Log)
	if err != nil {
		return err
	}
	client := model.New(c.Model, c.BudgetPerMinute)
	defer client.Close()
	d, err := desk.New(desk.Options{Config: c, Model: client, Records: records, Metrics: rt.Metrics, Log: rt.Log})
	if err != nil {
		return err
	}
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	rt.Log.Info("scoring", "address", l.Addr().String(), "scorers", len(c.Scorers), "model", c.Model.Name)
	if o.Ready != nil {
		o.Ready(l.Addr().String())
	}
	return serve(ctx, l, d.Handler())
}

func serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown)
		defer cancel()
		return errors.Join(server.Shutdown(end), ctx.Err())
	})
	return group.Wait()
}
