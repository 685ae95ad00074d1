package events

import "errors"

// Errors that every bus returns, possibly wrapped.
var (
	// ErrConflict: the subject's last event is not the one that ExpectLast
	// named. Read the subject again and decide anew.
	ErrConflict = errors.New("the subject has moved on")
	// ErrNotFound: the subject, or the stream, has no event.
	ErrNotFound = errors.New("no such event")
	// ErrInvalidOption: an option or a configuration makes no sense.
	ErrInvalidOption = errors.New("invalid option")
	// ErrTooLarge: the event is larger than the server takes.
	ErrTooLarge = errors.New("the event is larger than the server takes")
	// ErrFull: the stream refuses events until some have aged out. Keep the
	// event and try again later.
	ErrFull = errors.New("the stream is full")
	// ErrDenied: the server's permissions do not allow it.
	ErrDenied = errors.New("permission denied")
	// ErrInvalidEvent: the event breaks the rules of CloudEvents.
	ErrInvalidEvent = errors.New("not a valid CloudEvent")
	// ErrNoResponder: nobody answers such requests.
	ErrNoResponder = errors.New("nobody answers")
	// ErrClosed: the bus was closed.
	ErrClosed = errors.New("the bus is closed")
)
