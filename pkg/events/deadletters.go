package events

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// buryWait bounds how long one attempt to write a dead letter takes.
const buryWait = 10 * time.Second

// DeadLetters keeps in SW_DEAD, by [Bury], each message that fails for good:
// permanently, at its last delivery, or because nobody ever answered for it
// (the handler took the process down with it). A message is dropped only
// once it is kept.
func DeadLetters(k Keeper, service string) Decorator {
	return func(next Handler) Handler {
		return func(ctx context.Context, m Message) ([]Outgoing, error) {
			if m.MaxDeliveries > 0 && m.Deliveries > m.MaxDeliveries {
				return nil, buryFor(ctx, k, service, m, fmt.Errorf("no worker answered for it in %d deliveries", m.MaxDeliveries))
			}
			out, err := next(ctx, m)
			if err == nil || !IsPermanent(err) && !m.LastDelivery() {
				return out, err
			}
			return nil, buryFor(ctx, k, service, m, err)
		}
	}
}

// buryFor buries m and returns cause as a permanent error. A handler that is
// told to stop has not failed: m is left for another.
func buryFor(ctx context.Context, k Keeper, service string, m Message, cause error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%w: %w", errUnburied, context.Cause(ctx))
	}
	// The handler may have used up its time.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), buryWait)
	defer cancel()
	if err := Bury(ctx, k, service, m, cause); err != nil {
		return fmt.Errorf("%w: %w", errUnburied, err)
	}
	return Permanent(cause)
}
