package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// attributeError is an error about one attribute of an event.
type attributeError struct {
	attribute string
	err       error
}

func (e *attributeError) Error() string { return e.attribute + " " + e.err.Error() }
func (e *attributeError) Unwrap() error { return e.err }

// Decode reads the event out of m, in either mode, and validates it. Every
// error is a *BadInput whose field is the attribute. Data without a content
// type is taken for JSON.
func Decode(m Message) (event.Event, error) {
	e, err := decodeValid(m)
	return e, about(m.Subject, err)
}

func decodeValid(m Message) (event.Event, error) {
	e, err := decode(m)
	if err == nil {
		err = validate(e)
	}
	if err == nil {
		return e, nil
	}
	bad := &BadInput{Reason: "NotCloudEvent", Field: "event", Err: fmt.Errorf("not a CloudEvent: %w", err)}
	var attribute *attributeError
	if errors.As(err, &attribute) {
		bad.Field = attribute.attribute
	}
	return event.Event{}, bad
}

func decode(m Message) (event.Event, error) {
	if isStructured(m.Header.Get(headerContentType)) {
		return decodeStructured(m.Data)
	}
	if version := m.Header.Get(headerPrefix + attrVersion); version != event.CloudEventsVersionV1 {
		return event.Event{}, &attributeError{attrVersion, fmt.Errorf("is %q in header %s, want %q (or an event in JSON with %s: %s)",
			version, headerPrefix+attrVersion, event.CloudEventsVersionV1, headerContentType, structuredType)}
	}
	e := event.New()
	e.SetDataContentType(contentTypeOf(m.Header))
	for key, values := range m.Header {
		name, isAttribute := strings.CutPrefix(key, headerPrefix)
		if !isAttribute || name == attrVersion {
			continue
		}
		if err := setFromHeader(&e, name, values); err != nil {
			return event.Event{}, &attributeError{name, err}
		}
	}
	e.DataEncoded = m.Data
	e.DataBase64 = !isJSON(e.DataContentType())
	return e, nil
}

// decodeStructured first looks at the body itself, for the SDK's reader stops
// at the end of the object, and at a name that is empty, and leaves out a
// dataschema that it cannot parse.
func decodeStructured(body []byte) (event.Event, error) {
	var attributes map[string]json.RawMessage
	var e event.Event
	err := json.Unmarshal(body, &attributes)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		err = fmt.Errorf("%w, at %s", err, schemas.FieldAt(body, syntax.Offset))
	}
	if _, nameless := attributes[""]; nameless {
		err = errors.New("an attribute has no name")
	}
	if err == nil {
		err = e.UnmarshalJSON(body)
	}
	if err != nil {
		return event.Event{}, fmt.Errorf("the body is not an event in JSON: %w", err)
	}
	if given := attributes[attrSchema]; given != nil && string(given) != "null" && e.DataSchema() == "" {
		return event.Event{}, &attributeError{attrSchema, fmt.Errorf("is %s, want a URI", given)}
	}
	return e, nil
}

func isStructured(contentType string) bool {
	if contentType == "" || contentType == jsonType {
		return false
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == structuredType
}

// contentTypeOf is what the data's type is unless ce-datacontenttype says
// otherwise.
func contentTypeOf(h Header) string {
	if contentType := h.Get(headerContentType); contentType != "" {
		return contentType
	}
	return jsonType
}

func setFromHeader(e *event.Event, name string, values []string) error {
	if len(values) != 1 {
		return fmt.Errorf("stands in %d headers, want one", len(values))
	}
	if name != strings.ToLower(name) {
		return errors.New("is not in lower case")
	}
	value, err := unescapeHeader(values[0])
	if err != nil {
		return err
	}
	return setAttribute(e, name, value)
}

// setAttribute leaves it to validate to report what the setters refuse.
func setAttribute(e *event.Event, name, value string) error {
	switch name {
	case "id":
		e.SetID(value)
	case "source":
		e.SetSource(value)
	case "type":
		e.SetType(value)
	case "subject":
		e.SetSubject(value)
	case attrSchema:
		e.SetDataSchema(value)
	case attrContentType:
		e.SetDataContentType(value)
	case "time":
		t, err := types.ParseTime(value)
		if err != nil {
			return fmt.Errorf("is not a time: %w", err)
		}
		e.SetTime(t)
	default:
		e.SetExtension(name, value)
	}
	return nil
}

func unescapeHeader(s string) (string, error) {
	text, err := s, error(nil)
	if strings.Contains(s, "%") {
		text, err = url.PathUnescape(s)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("is not percent-encoded: %w", err)
	case !utf8.ValidString(text):
		return "", errors.New("is not UTF-8")
	}
	return text, nil
}

// validate returns the first of an event's faults, by name of attribute.
func validate(e event.Event) error {
	err := e.Validate()
	var faults event.ValidationError
	if errors.As(err, &faults) {
		first := slices.Min(slices.Collect(maps.Keys(faults)))
		return &attributeError{strings.TrimPrefix(first, "extension:"), fmt.Errorf("is refused: %w", faults[first])}
	}
	if err != nil {
		return err
	}
	if version := e.SpecVersion(); version != event.CloudEventsVersionV1 {
		return &attributeError{attrVersion, fmt.Errorf("is %q, want %q", version, event.CloudEventsVersionV1)}
	}
	return nil
}
