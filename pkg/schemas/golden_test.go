package schemas_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// validator returns a function that checks data against the JSON Schema of
// eventType. Formats are checked too, which the library does on request.
func validator(t testing.TB, eventType string) func(data []byte) error {
	t.Helper()
	text, err := schemas.JSONSchema(eventType)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	uri := events.SchemaURI(eventType)
	if err := compiler.AddResource(uri, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(uri)
	if err != nil {
		t.Fatalf("%s does not compile: %v", eventType, err)
	}
	return func(data []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return schema.Validate(value)
	}
}

func TestSchemaIDIsTheDataSchema(t *testing.T) {
	t.Parallel()
	for _, eventType := range schemas.Types() {
		text, err := schemas.JSONSchema(eventType)
		if err != nil {
			t.Error(err)
			continue
		}
		var document struct {
			ID                   string `json:"$id"`
			Dialect              string `json:"$schema"`
			AdditionalProperties *bool  `json:"additionalProperties"`
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Errorf("%s: %v", eventType, err)
		}
		if document.ID != events.SchemaURI(eventType) || document.Dialect != "https://json-schema.org/draft/2020-12/schema" {
			t.Errorf("%s has $id %s and $schema %s", eventType, document.ID, document.Dialect)
		}
		if document.AdditionalProperties == nil || *document.AdditionalProperties {
			t.Errorf("%s takes unknown fields", eventType)
		}
	}
	if _, err := schemas.JSONSchema("../types"); err == nil {
		t.Error("there is a schema for a type that does not exist")
	}
}

func TestGoldenPayloadsAreStable(t *testing.T) {
	t.Parallel()
	for _, eventType := range schemas.Types() {
		check := validator(t, eventType)
		for _, path := range glob(t, filepath.Join("testdata/golden", eventType, "*.json")) {
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				data := bytes.TrimSuffix(readFile(t, path), []byte("\n"))
				p, err := schemas.Decode(eventType, data)
				if err != nil {
					t.Fatal(err)
				}
				again, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(again, data) {
					t.Errorf("encoded again it is\n%s\nwant\n%s", again, data)
				}
				if err := check(data); err != nil {
					t.Errorf("the JSON Schema refuses it: %v", err)
				}
			})
		}
	}
}

// Each field must stand in some golden file, else its name could change
// unseen.
func TestGoldenPayloadsCoverTheFields(t *testing.T) {
	t.Parallel()
	for _, eventType := range schemas.Types() {
		var all strings.Builder
		for _, path := range glob(t, filepath.Join("testdata/golden", eventType, "*.json")) {
			all.Write(readFile(t, path))
		}
		for _, name := range propertyNames(t, eventType) {
			if !strings.Contains(all.String(), `"`+name+`":`) {
				t.Errorf("%s: no golden file has the field %s", eventType, name)
			}
		}
	}
}

// propertyNames lists the fields of a type and of all that it holds.
func propertyNames(t *testing.T, eventType string) []string {
	t.Helper()
	text, err := schemas.JSONSchema(eventType)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]any `json:"properties"`
	}
	var document struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range document.Properties {
		names = append(names, name)
	}
	for _, def := range document.Defs {
		for name := range def.Properties {
			names = append(names, name)
		}
	}
	return names
}
