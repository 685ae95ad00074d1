package events

import (
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
)

const (
	headerPrefix      = "ce-"
	headerContentType = "Content-Type"
	attrVersion       = "specversion"
	attrContentType   = "datacontenttype"
	attrSchema        = "dataschema"
	structuredType    = event.ApplicationCloudEventsJSON
)

// Encode writes e in binary mode: the attributes as ce-* headers,
// percent-encoded, the data as the body. An event that is not valid is an
// ErrInvalidEvent that names the attribute.
func Encode(e event.Event) (Header, []byte, error) {
	if err := validate(e); err != nil {
		return nil, nil, fmt.Errorf("event %q: %w: %w", idOf(e), ErrInvalidEvent, err)
	}
	h := make(Header, 8+len(e.Extensions()))
	set := func(name, value string) {
		if value != "" {
			h[headerPrefix+name] = []string{escapeHeader(value)}
		}
	}
	set(attrVersion, e.SpecVersion())
	set("id", e.ID())
	set("source", e.Source())
	set("type", e.Type())
	set("subject", e.Subject())
	set(attrSchema, e.DataSchema())
	set(attrContentType, e.DataContentType())
	if t := e.Time(); !t.IsZero() {
		set("time", t.UTC().Format(time.RFC3339Nano))
	}
	for name, value := range e.Extensions() {
		text, err := types.Format(value)
		if err != nil {
			return nil, nil, fmt.Errorf("event %q: %w: extension %s: %w", e.ID(), ErrInvalidEvent, name, err)
		}
		set(name, text)
	}
	return h, e.Data(), nil
}

// EncodeStructured writes e in structured mode: one JSON document. It
// returns errors as Encode does.
func EncodeStructured(e event.Event) (Header, []byte, error) {
	err := validate(e)
	if err == nil && !e.DataBase64 && isJSON(e.DataContentType()) && len(e.Data()) > 0 && !json.Valid(e.Data()) {
		err = &attributeError{"data", fmt.Errorf("is not JSON, but %s is %q", attrContentType, e.DataContentType())}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("event %q: %w: %w", idOf(e), ErrInvalidEvent, err)
	}
	data, err := e.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("event %q: %w: %w", e.ID(), ErrInvalidEvent, err)
	}
	return Header{headerContentType: {structuredType}}, data, nil
}

func idOf(e event.Event) string {
	if e.Context == nil {
		return ""
	}
	return e.ID()
}

// isJSON reports whether data of a content type is JSON; none at all means
// JSON.
func isJSON(contentType string) bool {
	if contentType == "" || contentType == jsonType {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == jsonType || media == "text/json" || strings.HasSuffix(media, "+json"))
}

// escapeHeader percent-encodes what a header value cannot carry, as the
// CloudEvents HTTP binding does: anything but printable ASCII, and space,
// '"' and '%'.
func escapeHeader(s string) string {
	for i := range len(s) {
		if mustEscape(s[i]) {
			return escape(s)
		}
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; mustEscape(c) {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func mustEscape(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '%' }
