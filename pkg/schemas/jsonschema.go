package schemas

import (
	"embed"
	"fmt"
)

//go:generate go run ../../hack/schemagen . json
//go:generate go run ../../hack/pygen json ../../sdk/python/src/spokewire/payloads.py

//go:embed json/*.json
var schemaFiles embed.FS

// JSONSchema returns the JSON Schema (draft 2020-12) of an event type's
// payload. Its $id is the dataschema of such events. It returns
// ErrUnknownType (wrapped) for a type that it does not know.
//
// A schema cannot say all that Decode checks: that names do not repeat, and
// that an integer is written without a fraction or exponent.
func JSONSchema(eventType string) ([]byte, error) {
	data, err := schemaFiles.ReadFile("json/" + eventType + ".json")
	if err != nil {
		return nil, fmt.Errorf("%w %q", ErrUnknownType, eventType)
	}
	return data, nil
}
