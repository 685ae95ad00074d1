package access

import (
	"errors"
	"fmt"
)

// What can be wrong, for errors.Is. Each error of RestConfig is an *Error
// that wraps one of them.
var (
	// ErrNoProvider: the profile names no access provider that is known here.
	ErrNoProvider = errors.New("names no access provider that is known here")
	// ErrInvalid: a field has no value that can be used.
	ErrInvalid = errors.New("cannot be used")
	// ErrInsecure: a field asks for a connection that is not checked.
	ErrInsecure = errors.New("is not safe")
	// ErrNotAllowed: a profile names a Secret of a namespace that the caller
	// does not allow.
	ErrNotAllowed = errors.New("is in a namespace that is not allowed")
	// ErrSecret: the Secret cannot be read. The API server's answer is
	// wrapped too.
	ErrSecret = errors.New("cannot be read")
)

// Error says which field of which object is in the way. Its text never holds
// anything out of a Secret.
type Error struct {
	// Object is the kind, namespace and name, for instance "Secret apps/c".
	Object string
	// Field is a JSON path, "" for the object as a whole.
	Field string
	// Kind is one of the errors of this package.
	Kind error
	// Detail says more, and what to do; it may be "".
	Detail string
	// Cause is what another part said; it may be nil.
	Cause error
}

func (e *Error) Error() string {
	text := e.Object
	if e.Field != "" {
		text += ": " + e.Field
	}
	text += " " + e.Kind.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text = fmt.Sprintf("%s: %v", text, e.Cause)
	}
	return text
}

// Unwrap returns Kind, and Cause where there is one.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}
