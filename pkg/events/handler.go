package events

import (
	"context"
	"errors"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
)

// Handler takes one message and returns the events that follow from it. What
// cuts across handlers (publishing the results, retries, dead letters,
// traces) is added by decorators, see [Chain].
//
// nil means done. An error that is [Permanent] (or a *BadInput) means that
// no retry will mend the message; any other error means try again later.
type Handler func(ctx context.Context, m Message) ([]Outgoing, error)

// Outgoing is an event to publish.
type Outgoing struct {
	Subject string
	Event   event.Event
	Options []PublishOption
}

// Disposition is what a bus is told of a message.
type Disposition int

// Dispositions.
const (
	Done  Disposition = iota // acknowledged, never again
	Retry                    // handed out again after a delay
	Drop                     // terminated, never again
)

// DispositionOf maps a handler's error to what the bus is told.
func DispositionOf(err error) Disposition {
	switch {
	case err == nil:
		return Done
	case IsPermanent(err):
		return Drop
	}
	return Retry
}

// Settle says what a bus is told of m after a handler returned err: as
// DispositionOf, but the last delivery is not retried, unless the message
// has yet to be buried (see [DeadLetters]).
func Settle(m Message, err error) Disposition {
	d := DispositionOf(err)
	if d == Retry && m.LastDelivery() && !errors.Is(err, errUnburied) {
		return Drop
	}
	return d
}

// errUnburied marks a failure whose dead letter could not be written.
var errUnburied = errors.New("the dead letter was not written")

// BadInput is the permanent error of a message that is refused.
type BadInput struct {
	// Reason is a CamelCase class, for instance NotJSON.
	Reason string
	// Field is the field that is refused, where one is.
	Field string
	Err   error
}

func (e *BadInput) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *BadInput) Unwrap() error { return e.Err }

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Permanent marks err as one that no retry will mend. nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

// IsPermanent reports whether err, or one that it wraps, is permanent.
func IsPermanent(err error) bool {
	var p permanentError
	var bad *BadInput
	return errors.As(err, &p) || errors.As(err, &bad)
}

// RetryDelay is how long to wait before attempt n+1 of a message, n from 1:
// exponential from 100 ms to 30 s. Add jitter.
func RetryDelay(n int) time.Duration {
	d := 100 * time.Millisecond
	for ; n > 1 && d < 30*time.Second; n-- {
		d *= 2
	}
	return min(d, 30*time.Second)
}
