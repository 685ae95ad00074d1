package jetstream

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/spokewire/spokewire/pkg/events"
)

// Codes of the server that nats.go has no name for.
const (
	errStoreFailed      jetstream.ErrorCode = 10077
	errDuplicateRunning jetstream.ErrorCode = 10158
	errFilterNotSubset  jetstream.ErrorCode = 10093
	errRollupRefused    jetstream.ErrorCode = 10111
	errTTLInvalid       jetstream.ErrorCode = 10165
	errTTLDisabled      jetstream.ErrorCode = 10166
)

// wrongLast reports whether a compare-and-set failed. One replica and
// several answer by different codes.
func wrongLast(err error) bool {
	switch codeOf(err) {
	case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return true
	}
	return false
}

func codeOf(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	return 0
}

// classify turns the error of a publish into one of package events, and says
// whether another attempt is useless.
func classify(err error) (error, bool) {
	switch {
	case errors.Is(err, nats.ErrConnectionClosed):
		return events.ErrClosed, true
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", events.ErrTooLarge, err), true
	case errors.Is(err, nats.ErrBadSubject), errors.Is(err, nats.ErrHeadersNotSupported):
		return err, true
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("no stream takes it: %w", events.ErrNotFound), false
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err, false
	}
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamMessageExceedsMaximum:
		return fmt.Errorf("%w: %w", events.ErrTooLarge, api), true
	case errStoreFailed:
		return fmt.Errorf("%w: %w", events.ErrFull, api), true
	case errRollupRefused, errTTLInvalid, errTTLDisabled:
		return fmt.Errorf("%w: the stream takes no tombstones: %w", events.ErrInvalidOption, api), true
	case errDuplicateRunning:
		return api, false
	}
	return api, api.Code < 500
}
