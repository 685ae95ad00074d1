package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const validateLong = `Check FILE (- is standard input) as Spokewire's services would.

It holds structured CloudEvents (JSON, one or more), or manifests for apply
(YAML or JSON), or, with --type, the bare data of one event. Each is checked
against its Go type and its JSON Schema.`

// validated is one document that was found sound.
type validated struct {
	Document int    `json:"document"` // from 1
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
			types, err := validate(text, dataType)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			sound := []validated{}
			for i, t := range types {
				sound = append(sound, validated{Document: i + 1, Type: t})
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
	c.Flags().StringVar(&dataType, "type", "", "FILE is the bare data of an event of this type")
	a.addOutput(c)
	return c
}

// validate checks every document of text and returns their event types.
func validate(text []byte, dataType string) ([]string, error) {
	if dataType != "" {
		data, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return nil, err
		}
		return []string{dataType}, validateData(dataType, data)
	}
	if !isEvent(text) {
		return validateManifest(text)
	}
	var types []string
	documents := json.NewDecoder(bytes.NewReader(text))
	for {
		var document json.RawMessage
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			return types, nil
		}
		if err == nil {
			var t string
			t, err = validateEvent(document)
			types = append(types, t)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", max(len(types), 1), err)
		}
	}
}

// isEvent reports whether text begins with a structured CloudEvent.
func isEvent(text []byte) bool {
	var head struct {
		SpecVersion *string `json:"specversion"`
	}
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&head)
	return err == nil && head.SpecVersion != nil
}

func validateEvent(document []byte) (string, error) {
	var e event.Event
	if err := e.UnmarshalJSON(document); err != nil {
		return "", fmt.Errorf("is not a structured CloudEvent: %w", err)
	}
	if err := e.Validate(); err != nil {
		return "", fmt.Errorf("is not a structured CloudEvent: %w", err)
	}
	if _, err := events.Age(e); err != nil {
		return "", err
	}
	return e.Type(), validateData(e.Type(), e.Data())
}

// validateManifest checks what apply would check.
func validateManifest(text []byte) ([]string, error) {
	objects, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	var types []string
	for _, o := range objects {
		data, err := json.Marshal(o.Payload)
		if err == nil {
			err = validateData(o.Kind.EventType, data)
		}
		if err != nil {
			return nil, fmt.Errorf("document at line %d: %s: %w", o.Line, o, err)
		}
		types = append(types, o.Kind.EventType)
	}
	return types, nil
}

// validateData checks an event's data against its Go type, whose errors are
// the clearer ones, and then its JSON Schema.
func validateData(eventType string, data []byte) error {
	if _, err := schemas.Decode(eventType, data); err != nil {
		return err
	}
	return checkSchema(eventType, data)
}
