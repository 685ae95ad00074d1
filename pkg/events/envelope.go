package events

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Extension attributes that Spokewire sets and reads. All hold strings.
const (
	ExtPartitionKey = "partitionkey"
	ExtTraceParent  = "traceparent"
	ExtTraceState   = "tracestate"
	// ExtAge is how many milliseconds the event waited before this attempt
	// to publish it.
	ExtAge = "age"
	// ExtEpoch and ExtSequence number the events of one producer's store; the
	// sequence is zero-padded to 20 digits.
	ExtEpoch    = "epoch"
	ExtSequence = "sequence"
)

const (
	headerPrefix      = "ce-"
	headerContentType = "Content-Type"
	jsonType          = "application/json"
	structuredType    = event.ApplicationCloudEventsJSON
	schemaBase        = "https://spokewire.dev/schemas/"
)

// SchemaURI is the dataschema attribute of events of a type.
func SchemaURI(eventType string) string { return schemaBase + eventType + ".json" }

// New makes an event of eventType with p as its data, a random id and the
// current time. It returns p's *schemas.FieldError if p is not valid.
func New(eventType, source string, p schemas.Payload) (event.Event, error) {
	if err := p.Validate(); err != nil {
		return event.Event{}, fmt.Errorf("%s from %s: %w", eventType, source, err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		return event.Event{}, fmt.Errorf("%s from %s: %w", eventType, source, err)
	}
	e := event.New()
	e.SetID(NewID())
	e.SetType(eventType)
	e.SetSource(source)
	e.SetTime(time.Now())
	e.SetDataSchema(SchemaURI(eventType))
	// SetData would mark bytes as binary, to be written in base64.
	e.SetDataContentType(jsonType)
	e.DataEncoded = data
	return e, nil
}

// NewID returns an id that nobody can guess.
func NewID() string { return rand.Text() }

// ClusterSource is the source attribute of what a source of a cluster says.
func ClusterSource(cluster, source string) string {
	return "/clusters/" + url.PathEscape(cluster) + "/sources/" + url.PathEscape(source)
}

// ScorerSource is the source attribute of a scorer's scores of a cluster.
func ScorerSource(cluster, scorer string) string {
	return "/clusters/" + url.PathEscape(cluster) + "/scorers/" + url.PathEscape(scorer)
}

// ServiceSource is the source attribute of what a hub service says.
func ServiceSource(service string) string { return "/services/" + url.PathEscape(service) }

// Encode writes e in binary mode: the attributes as ce-* headers,
// percent-encoded, the data as the body. It returns e's validation error.
func Encode(e event.Event) (Header, []byte, error) {
	if err := e.Validate(); err != nil {
		return nil, nil, fmt.Errorf("event %s: %w", e.ID(), err)
	}
	h := make(Header, 8+len(e.Extensions()))
	set := func(name, value string) {
		if value != "" {
			h.Set(headerPrefix+name, escapeHeader(value))
		}
	}
	set("specversion", e.SpecVersion())
	set("id", e.ID())
	set("source", e.Source())
	set("type", e.Type())
	set("subject", e.Subject())
	set("dataschema", e.DataSchema())
	if t := e.Time(); !t.IsZero() {
		set("time", t.UTC().Format(time.RFC3339Nano))
	}
	if ct := e.DataContentType(); ct != "" {
		h.Set(headerContentType, ct)
	}
	for name, value := range e.Extensions() {
		text, err := types.Format(value)
		if err != nil {
			return nil, nil, fmt.Errorf("event %s: extension %s: %w", e.ID(), name, err)
		}
		set(name, text)
	}
	return h, e.Data(), nil
}

// EncodeStructured writes e in structured mode: one JSON document.
func EncodeStructured(e event.Event) (Header, []byte, error) {
	data, err := e.MarshalJSON()
	if err != nil {
		return nil, nil, fmt.Errorf("event %s: %w", e.ID(), err)
	}
	return Header{headerContentType: {structuredType}}, data, nil
}

// Decode reads the event out of m, in either mode, and validates it. Every
// error is a *BadInput.
func Decode(m Message) (event.Event, error) {
	e, err := decode(m)
	if err == nil {
		err = e.Validate()
	}
	if err != nil {
		return event.Event{}, &BadInput{Reason: "NotCloudEvent", Field: "event", Err: fmt.Errorf("%s: not a CloudEvent: %w", m.Subject, err)}
	}
	return e, nil
}

func decode(m Message) (event.Event, error) {
	contentType := m.Header.Get(headerContentType)
	if media, _, err := mime.ParseMediaType(contentType); err == nil && media == structuredType {
		var e event.Event
		err := e.UnmarshalJSON(m.Data)
		return e, err
	}
	version := m.Header.Get(headerPrefix + "specversion")
	if version != event.CloudEventsVersionV1 {
		return event.Event{}, fmt.Errorf("header ce-specversion is %q, want %q (or Content-Type %s)", version, event.CloudEventsVersionV1, structuredType)
	}
	e := event.New()
	for key, values := range m.Header {
		name, isAttribute := strings.CutPrefix(key, headerPrefix)
		if !isAttribute || len(values) == 0 {
			continue
		}
		value, err := unescapeHeader(values[0])
		if err != nil {
			return event.Event{}, fmt.Errorf("header %s: %w", key, err)
		}
		if err := setAttribute(&e, name, value); err != nil {
			return event.Event{}, fmt.Errorf("header %s: %w", key, err)
		}
	}
	if contentType == "" {
		contentType = jsonType
	}
	e.SetDataContentType(contentType)
	e.DataEncoded = m.Data
	return e, nil
}

func setAttribute(e *event.Event, name, value string) error {
	switch name {
	case "specversion":
	case "id":
		e.SetID(value)
	case "source":
		e.SetSource(value)
	case "type":
		e.SetType(value)
	case "subject":
		e.SetSubject(value)
	case "dataschema":
		e.SetDataSchema(value)
	case "datacontenttype":
		e.SetDataContentType(value)
	case "time":
		t, err := types.ParseTime(value)
		if err != nil {
			return err
		}
		e.SetTime(t)
	default:
		e.SetExtension(name, value)
	}
	// The setters keep their errors until asked; Validate reports them.
	return nil
}

// escapeHeader percent-encodes what a header value cannot carry, as the
// CloudEvents HTTP binding does: anything but printable ASCII, and space,
// '"' and '%'.
func escapeHeader(s string) string {
	plain := true
	for i := range len(s) {
		if mustEscape(s[i]) {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b bytes.Buffer
	for i := range len(s) {
		if c := s[i]; mustEscape(c) {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func mustEscape(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '%' }

func unescapeHeader(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	return url.PathUnescape(s)
}

// Age returns how long e waited before it was published, from its age
// extension; 0 where it has none. A malformed or negative age is a
// *BadInput.
func Age(e event.Event) (time.Duration, error) {
	value, ok := e.Extensions()[ExtAge]
	if !ok {
		return 0, nil
	}
	text, err := types.Format(value)
	if err != nil {
		return 0, &BadInput{Reason: "BadAge", Field: ExtAge, Err: err}
	}
	millis, err := strconv.ParseInt(text, 10, 64)
	if err != nil || millis < 0 || millis > int64(maxAge/time.Millisecond) {
		return 0, &BadInput{Reason: "BadAge", Field: ExtAge, Err: fmt.Errorf("extension age is %q, want milliseconds from 0 to %d", text, maxAge.Milliseconds())}
	}
	return time.Duration(millis) * time.Millisecond, nil
}

// maxAge bounds what an event may claim to have waited.
const maxAge = 366 * 24 * time.Hour
