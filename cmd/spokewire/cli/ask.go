package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/pkg/ask"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/jetstream"
)

// asking makes the RunE of a command that asks the service inquiry.
func (a *app) asking(run func(ctx context.Context, c *cobra.Command, client ask.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(c.Context(), a.timeout)
		defer cancel()
		return a.withBus(ctx, func(ctx context.Context, b *jetstream.Bus) error {
			return a.answered(run(ctx, c, ask.Client{Bus: b}, args))
		})
	}
}

// answered says what to do about an error.
func (a *app) answered(err error) error {
	switch {
	case errors.Is(err, events.ErrNoResponder):
		return fmt.Errorf("%w: is the service inquiry running? (spokewire run inquiry)", err)
	case errors.Is(err, events.ErrDenied):
		return fmt.Errorf("%w: only the operator may ask", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("not done within --timeout %s: %w", a.timeout, err)
	}
	return err
}

// parseDecision reads NAMESPACE/NAME[@SEQUENCE]; without a sequence it is 0,
// the last decision.
func parseDecision(text string) (namespace, name string, sequence uint64, err error) {
	placement, number, found := strings.Cut(text, "@")
	if found {
		if sequence, err = strconv.ParseUint(number, 10, 64); err != nil || sequence == 0 {
			return "", "", 0, fmt.Errorf("%q: after @ comes the sequence of a decision, as explain and watch decisions -o json show it", text)
		}
	}
	namespace, name, err = parsePlacement(placement)
	return namespace, name, sequence, err
}
