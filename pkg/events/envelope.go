package events

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
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
	// ExtEpoch and ExtSequence number the events of one producer's store. Both
	// are integers from 0 to 2^64-1; the sequence is zero-padded to 20 digits.
	ExtEpoch    = "epoch"
	ExtSequence = "sequence"
)

const (
	jsonType   = "application/json"
	schemaBase = "https://spokewire.dev/schemas/"
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

// ParseClusterSource is the reverse of ClusterSource.
func ParseClusterSource(source string) (cluster, name string, err error) {
	parts := strings.Split(source, "/")
	if len(parts) == 5 {
		var clusterErr, nameErr error
		cluster, clusterErr = url.PathUnescape(parts[2])
		name, nameErr = url.PathUnescape(parts[4])
		if clusterErr == nil && nameErr == nil && cluster != "" && name != "" && ClusterSource(cluster, name) == source {
			return cluster, name, nil
		}
	}
	return "", "", fmt.Errorf("source is %q, want /clusters/CLUSTER/sources/SOURCE", source)
}

// ScorerSource is the source attribute of a scorer's scores of a cluster.
func ScorerSource(cluster, scorer string) string {
	return "/clusters/" + url.PathEscape(cluster) + "/scorers/" + url.PathEscape(scorer)
}

// ServiceSource is the source attribute of what a hub service says.
func ServiceSource(service string) string { return "/services/" + url.PathEscape(service) }

// Age returns how long e waited before it was published, from its age
// extension; 0 where it has none. A malformed or negative age is a
// *BadInput.
func Age(e event.Event) (time.Duration, error) { return ageOf(e.Extensions()) }

func ageOf(extensions map[string]any) (time.Duration, error) {
	value, ok := extensions[ExtAge]
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

// checkAttributes checks those that do not depend on the subject, and returns
// the age.
func checkAttributes(e event.Event) (time.Duration, error) {
	if got, want := e.DataSchema(), SchemaURI(e.Type()); got != "" && got != want {
		return 0, &BadInput{Reason: "WrongSchema", Field: attrSchema, Err: fmt.Errorf("dataschema is %q, want %q or none", got, want)}
	}
	extensions := e.Extensions()
	for _, name := range []string{ExtEpoch, ExtSequence} {
		value, ok := extensions[name]
		if !ok {
			continue
		}
		text, err := types.Format(value)
		if err == nil {
			_, err = strconv.ParseUint(text, 10, 64)
		}
		if err != nil {
			return 0, &BadInput{Reason: "BadNumber", Field: name, Err: fmt.Errorf("extension %s is %q, want an integer from 0 to 2^64-1", name, text)}
		}
	}
	return ageOf(extensions)
}

// maxAge bounds what an event may claim to have waited.
const maxAge = 366 * 24 * time.Hour
