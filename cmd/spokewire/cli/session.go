package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/internal/inventory"
	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// connectTimeout bounds the connecting of a command without a timeout of its
// own.
const connectTimeout = 10 * time.Second

// bus is what commands ask of NATS.
type bus interface {
	events.Publisher
	events.Getter
	events.Watcher
}

// onBus makes the RunE of a command that needs the bus: run gets a context
// that ends at the timeout and at Ctrl-C.
func (a *app) onBus(run func(ctx context.Context, c *cobra.Command, b bus, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(c.Context(), a.timeout)
		defer cancel()
		return a.withBus(ctx, func(ctx context.Context, b *jetstream.Bus) error {
			err := run(ctx, c, b, args)
			if errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("not done within --timeout %s: %w", a.timeout, err)
			}
			return err
		})
	}
}

// withBus connects, runs run and closes the connection. Ctrl-C ends run's
// context.
func (a *app) withBus(ctx context.Context, run func(context.Context, *jetstream.Bus) error) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := a.bus.Validate(); err != nil {
		return err
	}
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	warnings := new(lastWarning)
	b, err := a.bus.Connect(connecting, process.Runtime{Name: "spokewire", Log: slog.New(warnings)})
	switch {
	case errors.Is(err, events.ErrDenied):
		return fmt.Errorf("cannot connect, the server does not take the user or the password (those of a local stack may be new: eval \"$(spokewire env)\"): %w", err)
	case err != nil:
		return fmt.Errorf("cannot connect (does the server run? spokewire up starts one): %w", err)
	}
	defer b.Close()
	return warnings.explain(run(ctx, b))
}

// errStop ends a watch that has seen enough.
var errStop = errors.New("seen enough")

// read reads the current state that watches cover, and the server's time.
func read(ctx context.Context, b bus, watches ...events.Watch) (*inventory.State, error) {
	state := inventory.New()
	err := events.Feed(ctx, b, watches, func(batch events.Batch) error {
		for _, u := range batch.Updates {
			state.Take(u)
		}
		if batch.Synced {
			return errStop
		}
		return nil
	})
	if !errors.Is(err, errStop) {
		return nil, fmt.Errorf("reading the bus: %w", err)
	}
	return state, nil
}
