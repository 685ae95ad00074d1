package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const validateLong = `Check FILE (- is standard input) as Spokewire's services would.

It holds structured CloudEvents (JSON, each on lines of its own), or manifests
for apply (YAML or JSON), or, with --type, the bare data of events of that type
as it is on the bus (JSON, each on lines of its own). Every document is checked,
against its Go type and its JSON Schema; the first that is not sound is said
with its line.`

// validated is one document that was found sound.
type validated struct {
	Document int    `json:"document"` // from 1
	Line     int    `json:"line"`     // on which it begins, from 1
	Type     string `json:"type"`
}

func (a *app) newSchemaValidate() *cobra.Command {
	dataType := ""
	c := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check events or manifests",
		Long:  validateLong,
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := readInput(c, args[0])
			if err != nil {
				return err
			}
			sound, err := validate(text, dataType)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.print(c.OutOrStdout(), sound, func(w io.Writer) error {
				for _, v := range sound {
					if _, err := fmt.Fprintf(w, "document %d: a valid %s\n", v.Document, v.Type); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&dataType, "type", "", "FILE is the bare data of events of this type")
	a.addOutput(c)
	return c
}

// validate checks every document of text.
func validate(text []byte, dataType string) ([]validated, error) {
	switch {
	case dataType != "":
		return validateEach(text, func(data []byte) (string, error) { return dataType, validateBare(dataType, data) })
	case isEvent(text):
		return validateEach(text, validateEvent)
	}
	return validateManifest(text)
}

// isEvent reports whether text begins with a structured CloudEvent, as far as
// it is JSON.
func isEvent(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	if brace, err := d.Token(); err != nil || brace != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil || name == "specversion" {
			return err == nil
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return false
		}
	}
	return false
}

// validateEach checks the JSON documents of text, each of which begins on a
// line of its own. check returns the document's event type.
func validateEach(text []byte, check func(document []byte) (string, error)) ([]validated, error) {
	sound := []validated{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		rest := text[decoder.InputOffset():]
		document := bytes.TrimLeft(rest, " \t\r\n")
		space := rest[:len(rest)-len(document)]
		at := validated{Document: len(sound) + 1, Line: 1 + bytes.Count(text[:len(text)-len(document)], []byte{'\n'})}
		switch {
		case len(document) == 0 && len(sound) == 0:
			return nil, errors.New("there is no document in it")
		case len(document) == 0:
			return sound, nil
		case len(sound) > 0 && !bytes.ContainsRune(space, '\n'):
			return nil, fmt.Errorf("line %d: %q follows document %d, want the next one on a line of its own", at.Line, start(document), len(sound))
		}
		var whole json.RawMessage
		if err := decoder.Decode(&whole); err == nil {
			document = whole
		} // else the check says what is wrong with it
		var err error
		if at.Type, err = check(document); err != nil {
			return nil, fmt.Errorf("document %d at line %d: %w", at.Document, at.Line, err)
		}
		sound = append(sound, at)
	}
}

// start is how a document begins.
func start(document []byte) []byte {
	line, _, _ := bytes.Cut(document, []byte{'\n'})
	return line[:min(len(line), 20)]
}

// validateEvent checks a structured CloudEvent by what reads the bus.
func validateEvent(document []byte) (string, error) {
	r, err := events.ReadDocument(document)
	if err != nil {
		return "", err
	}
	return r.Event.Type(), checkSchema(r.Event.Type(), r.Event.Data())
}

// validateManifest checks what apply would check.
func validateManifest(text []byte) ([]validated, error) {
	objects, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	var sound []validated
	for i, o := range objects {
		data, err := json.Marshal(o.Payload)
		if err == nil {
			err = validateData(o.Kind.EventType, data)
		}
		if err != nil {
			return nil, fmt.Errorf("document at line %d: %s: %w", o.Line, o, err)
		}
		sound = append(sound, validated{Document: i + 1, Line: o.Line, Type: o.Kind.EventType})
	}
	return sound, nil
}

// validateBare is validateData for what somebody may have taken for a
// manifest.
func validateBare(eventType string, data []byte) error {
	err := validateData(eventType, data)
	if err != nil && data[0] != '{' {
		return fmt.Errorf("%w (with --type, FILE holds JSON as it is on the bus; a manifest needs no --type)", err)
	}
	return err
}

// validateData checks an event's data against its Go type, whose errors are
// the clearer ones, and then its JSON Schema.
func validateData(eventType string, data []byte) error {
	if _, err := schemas.Decode(eventType, data); err != nil {
		return err
	}
	return checkSchema(eventType, data)
}
