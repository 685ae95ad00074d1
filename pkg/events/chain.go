package events

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Decorator adds something to a Handler.
type Decorator func(Handler) Handler

// Chain wraps h in decorators; the first is outermost. A worker that
// publishes what follows from its events is
//
//	Chain(h, Traced(tp, "name"), DeadLetters(bus, "service"), Recover(), Publishing(bus))
func Chain(h Handler, decorators ...Decorator) Handler {
	for i := len(decorators) - 1; i >= 0; i-- {
		h = decorators[i](h)
	}
	return h
}

// Publishing publishes what the handler returns, in order and with the
// current span, and returns no events itself. An event that can never be published is a permanent
// failure. A handler that fails publishes nothing.
func Publishing(p Publisher) Decorator {
	return func(next Handler) Handler {
		return func(ctx context.Context, m Message) ([]Outgoing, error) {
			out, err := next(ctx, m)
			if err != nil {
				return nil, err
			}
			for _, o := range out {
				if _, err := p.Publish(ctx, o.Subject, traced(ctx, o.Event), o.Options...); err != nil {
					return nil, unpublishable(err)
				}
			}
			return nil, nil
		}
	}
}

func unpublishable(err error) error {
	for _, hopeless := range []error{ErrTooLarge, ErrBadSubject, ErrDenied, ErrInvalidEvent} {
		if errors.Is(err, hopeless) {
			return Permanent(err)
		}
	}
	return err
}

// maxStack bounds what is kept of a panic's stack, in bytes.
const maxStack = 3 << 10

// Recover turns a panic of the handler into a permanent error that holds the
// stack.
func Recover() Decorator {
	return func(next Handler) Handler {
		return func(ctx context.Context, m Message) (out []Outgoing, err error) {
			defer func() {
				if r := recover(); r != nil {
					stack := debug.Stack()
					out, err = nil, Permanent(fmt.Errorf("%s %d: the handler panicked: %v\n%s", m.Stream, m.Sequence, r, stack[:min(len(stack), maxStack)]))
				}
			}()
			return next(ctx, m)
		}
	}
}
