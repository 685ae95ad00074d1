package spoke

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/process"
)

// Options of a spoke's workload process.
type Options struct {
	Address string // of its HTTP endpoint: GET /metrics, POST /work
	Slots   int
}

// DefaultOptions has eight slots.
func DefaultOptions() Options { return Options{Address: "127.0.0.1:0", Slots: 8} }

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.Address, "address", o.Address, "address of GET /metrics and POST /work")
	fs.IntVar(&o.Slots, "slots", o.Slots, "jobs that run at a time")
}

// Validate says what is wrong.
func (o Options) Validate() error { return bound.Within("--slots", o.Slots, 1, 1024) }

// Command is the command line of the workload process.
func Command() *cobra.Command {
	o := DefaultOptions()
	return process.Command("spoke", "Run the workload of one cluster of the local stack", o.AddFlags,
		func(ctx context.Context, rt process.Runtime) error { return Run(ctx, o, rt) })
}

// Run works and serves until ctx ends.
func Run(ctx context.Context, o Options, rt process.Runtime) error {
	if err := o.Validate(); err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	w := New(registry, o.Slots)
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Address)
	if err != nil {
		return fmt.Errorf("--address %s: %w", o.Address, err)
	}
	rt.Log.Info("serving metrics and taking work", "address", listener.Addr().String(), "slots", o.Slots)
	server := &http.Server{Handler: Handler(w, registry), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go w.Run(ctx, o.Slots)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", o.Address, err)
	}
	return nil
}

// maxBlocks bounds one job, to about an hour.
const maxBlocks = 200_000

// Handler serves GET /metrics and POST /work?jobs=N&blocks=N.
func Handler(w *Workload, registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("POST /work", func(rw http.ResponseWriter, r *http.Request) {
		jobs, jobsErr := positive(r, "jobs", maxQueue)
		blocks, blocksErr := positive(r, "blocks", maxBlocks)
		if err := errors.Join(jobsErr, blocksErr); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		for range jobs {
			if !w.Submit(blocks) {
				http.Error(rw, "the queue is full, try again later", http.StatusTooManyRequests)
				return
			}
		}
		rw.WriteHeader(http.StatusAccepted)
	})
	return mux
}

func positive(r *http.Request, name string, most int) (int, error) {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s is %q, want a number from 1 to %d", name, r.URL.Query().Get(name), most)
	}
	return n, nil
}
