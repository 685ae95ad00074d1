package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// Payload is the data of one event type.
type Payload interface {
	// Validate returns nil or a *FieldError that names what is wrong.
	Validate() error
}

// FieldError says which field of a payload is refused, and why.
type FieldError struct {
	// Field is the path of the field as it stands in the JSON, for instance
	// samples[3].labels.
	Field string
	// Reason completes the sentence "FIELD REASON", for instance
	// "is not a finite number".
	Reason string
}

func (e *FieldError) Error() string { return e.Field + " " + e.Reason }

func fieldErrorf(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// ErrUnknownType is returned for an event type that this version of the
// package does not know.
var ErrUnknownType = errors.New("unknown event type")

// New returns a pointer to an empty payload struct of eventType, or
// ErrUnknownType (wrapped).
func New(eventType string) (Payload, error) {
	newPayload, ok := types[eventType]
	if !ok {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, eventType)
	}
	return newPayload(), nil
}

// Decode parses data as the payload of eventType and validates it. The
// result is a pointer to the payload struct. It returns ErrUnknownType
// (wrapped) for a type it does not know, otherwise a *FieldError.
func Decode(eventType string, data []byte) (Payload, error) {
	p, err := New(eventType)
	if err != nil {
		return nil, err
	}
	if err := Unmarshal(data, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Unmarshal parses data into p, which must be empty, and validates the
// result. It refuses fields that are unknown, missing, repeated, null or of
// another case, and whatever follows the value. Every error is a
// *FieldError.
func Unmarshal(data []byte, p Payload) error {
	switch p := p.(type) {
	case *Metrics:
		if plainMetrics(data, p) {
			return p.Validate()
		}
		*p = Metrics{} // of which a part may be read
	case *Score:
		if plainScore(data, p) {
			return p.Validate()
		}
		*p = Score{}
	}
	if err := unmarshalAny(data, p); err != nil {
		return err
	}
	return p.Validate()
}

// unmarshalAny parses data of whatever payload, and checks its form.
func unmarshalAny(data []byte, p Payload) error {
	shape, ok := shapes[reflect.TypeOf(p).Elem()]
	if !ok {
		return fieldErrorf("data", "is for a %T, which is no payload", p)
	}
	// What parses is JSON, which the check of the form relies on. To look
	// first whether it is would take a tenth longer.
	err := json.Unmarshal(data, p)
	if err != nil && !json.Valid(data) {
		return notJSON(data, json.Unmarshal(data, new(json.RawMessage)))
	}
	if bad := checkForm(data, shape); bad != nil {
		return bad
	}
	if err != nil {
		if found := findUnparsable(data, shape); found != nil {
			return found
		}
		return fieldErrorf("data", "is not taken: %v", err)
	}
	return nil
}
