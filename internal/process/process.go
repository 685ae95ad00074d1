package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"
)

// Runtime is what a service gets from its process. No field is nil.
type Runtime struct {
	Name    string
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Tracer  trace.TracerProvider
	Health  *Health
}

// Options are the flags that every service has.
type Options struct {
	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json
	// Listen is the address of /metrics, /healthz and /readyz; empty serves
	// none.
	Listen string
	// Listening, if set, is told the address once it is served.
	Listening func(address string)
	// TraceEndpoint is the URL of an OTLP/HTTP receiver; empty exports no
	// traces, though traceparent still goes from event to event.
	TraceEndpoint string
	// Profile serves /debug/pprof beside /metrics.
	Profile bool
}

// DefaultOptions logs text at info and serves on any free local port.
func DefaultOptions() Options {
	return Options{LogLevel: "info", LogFormat: "text", Listen: "127.0.0.1:0"}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.LogLevel, "log-level", o.LogLevel, "debug, info, warn or error")
	fs.StringVar(&o.LogFormat, "log-format", o.LogFormat, "text or json")
	fs.StringVar(&o.Listen, "listen", o.Listen, "address of /metrics, /healthz and /readyz (port 0: any free one; empty: none)")
	fs.StringVar(&o.TraceEndpoint, "otlp-endpoint", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "URL of an OTLP/HTTP receiver for traces (empty: none)")
	fs.BoolVar(&o.Profile, "pprof", o.Profile, "serve /debug/pprof too")
}

// Command makes the command line of one service: the flags of Options and
// those of addFlags. SIGINT and SIGTERM end the context that run gets; a
// second one ends the process.
func Command(use, short string, addFlags func(*pflag.FlagSet), run func(context.Context, Runtime) error) *cobra.Command {
	o := DefaultOptions()
	c := &cobra.Command{
		Use:           use,
		Short:         short,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop)
			return Run(ctx, use, o, run)
		},
	}
	o.AddFlags(c.Flags())
	addFlags(c.Flags())
	return c
}

// Main runs c and returns the exit status.
func Main(c *cobra.Command) int {
	if err := c.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name(), err)
		return 1
	}
	return 0
}

// Run builds the runtime of a service, runs it until it returns, and tears
// the runtime down. The end of ctx is not an error.
func Run(ctx context.Context, name string, o Options, run func(context.Context, Runtime) error) (err error) {
	log, err := newLogger(os.Stderr, name, o)
	if err != nil {
		return err
	}
	tracer, stopTracer, err := newTracer(ctx, name, o.TraceEndpoint)
	if err != nil {
		return err
	}
	defer stopTracer()
	rt := Runtime{Name: name, Log: log, Metrics: newRegistry(), Tracer: tracer, Health: NewHealth()}
	if o.Listen != "" {
		server, err := serve(ctx, o, rt)
		if err != nil {
			return err
		}
		defer server.stop()
		log.Info("listening", "address", server.address)
		if o.Listening != nil {
			o.Listening(server.address)
		}
	}
	err = run(ctx, rt)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}
