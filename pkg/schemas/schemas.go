package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Decode parses data as the payload of eventType and validates it. The
// result is a pointer to the payload struct. It returns ErrUnknownType
// (wrapped) for a type it does not know, otherwise a *FieldError.
func Decode(eventType string, data []byte) (Payload, error) {
	newPayload, ok := types[eventType]
	if !ok {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, eventType)
	}
	p := newPayload()
	if err := Unmarshal(data, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Unmarshal parses data into p, refuses unknown fields and trailing data,
// and validates the result. Every error is a *FieldError.
func Unmarshal(data []byte, p Payload) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return decodeError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fieldErrorf("data", "has something after its JSON value")
	}
	return p.Validate()
}

// decodeError turns an error of encoding/json into a *FieldError.
func decodeError(err error) error {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		field := wrongType.Field
		if field == "" {
			field = "data"
		}
		return fieldErrorf(field, "is a JSON %s, want %s", wrongType.Value, wrongType.Type)
	}
	return fieldErrorf("data", "is not the JSON of this type: %v", err)
}
