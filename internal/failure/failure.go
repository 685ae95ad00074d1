// Package failure gives the error of a whole attempt a class, so that
// failures can be counted, and logged once for each class.
package failure

import (
	"errors"
	"fmt"
)

// Reason is a class of failures.
type Reason string

// Reasons.
const (
	Unreachable    Reason = "Unreachable"    // no answer, or half of one
	Timeout        Reason = "Timeout"        // no whole answer in time
	Credentials    Reason = "Credentials"    // a token or certificate file cannot be used
	BadStatus      Reason = "BadStatus"      // not 200
	BadType        Reason = "BadType"        // an unknown Content-Type or encoding
	TooLarge       Reason = "TooLarge"       // more bytes than the limit
	Refused        Reason = "Refused"        // the other side says what is wrong with what it was asked
	BadAnswer      Reason = "BadAnswer"      // an answer that cannot be read
	BadExposition  Reason = "BadExposition"  // a syntax error in an exposition
	TooManySamples Reason = "TooManySamples" // more series than the limit
	Cancelled      Reason = "Cancelled"      // the process ends
)

// Error is an error with its class. Its text is that of Err.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Newf returns an *Error; format is that of fmt.Errorf.
func Newf(reason Reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// Of returns the class of err, "" if it has none.
func Of(err error) Reason {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Reason
	}
	return ""
}
