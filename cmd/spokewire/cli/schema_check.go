package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// checkSchema checks data against the JSON Schema of eventType.
func checkSchema(eventType string, data []byte) error {
	schema, err := compileSchema(eventType)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	err = schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return violation(invalid)
	}
	return err
}

func compileSchema(eventType string) (*jsonschema.Schema, error) {
	text, err := schemas.JSONSchema(eventType)
	if err != nil {
		return nil, err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", eventType, err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(events.SchemaURI(eventType), document); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", eventType, err)
	}
	return compiler.Compile(events.SchemaURI(eventType))
}

// violation says the first of the innermost violations, in one line.
func violation(e *jsonschema.ValidationError) error {
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	where := strings.Join(e.InstanceLocation, ".")
	if where == "" {
		where = "data"
	}
	return &schemas.FieldError{Field: where, Reason: "breaks the schema: " + e.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
}
