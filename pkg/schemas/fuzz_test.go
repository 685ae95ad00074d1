package schemas_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// addFiles seeds f with every golden and every bad payload.
func addFiles(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"testdata/golden/*/*.json", "testdata/bad/*/*.json"} {
		for _, path := range glob(f, pattern) {
			f.Add(filepath.Base(filepath.Dir(path)), readFile(f, path))
		}
	}
}

// FuzzDecode decodes as every type: each error is a *FieldError, and what is
// taken comes back from its own encoding unchanged.
func FuzzDecode(f *testing.F) {
	addFiles(f)
	f.Fuzz(func(t *testing.T, eventType string, data []byte) {
		p, err := schemas.Decode(eventType, data)
		if err != nil {
			var field *schemas.FieldError
			if !errors.Is(err, schemas.ErrUnknownType) && (!errors.As(err, &field) || field.Field == "" || field.Reason == "") {
				t.Fatalf("the error %v names no field", err)
			}
			return
		}
		encode(t, eventType, p)
	})
}

// encode returns p's JSON, after a check that p comes back from it.
func encode(t *testing.T, eventType string, p schemas.Payload) []byte {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := schemas.Decode(eventType, data)
	if err != nil {
		t.Fatalf("what was encoded is refused: %v\n%s", err, data)
	}
	twice, err := json.Marshal(again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, twice) {
		t.Fatalf("encoded once\n%s\nand twice\n%s", data, twice)
	}
	return data
}

// FuzzAgreement holds Decode against the JSON Schema.
//
// What Decode takes, the schema takes as Decode's own encoding of it: Decode
// is more lenient in how a duration, a zero or base64 may be written. What
// the schema takes, Decode takes too, but for what no schema can say; see
// beyondSchema.
func FuzzAgreement(f *testing.F) {
	addFiles(f)
	checks := map[string]func([]byte) error{}
	for _, eventType := range schemas.Types() {
		checks[eventType] = validator(f, eventType)
	}
	f.Fuzz(func(t *testing.T, eventType string, data []byte) {
		check, known := checks[eventType]
		if !known {
			return
		}
		p, err := schemas.Decode(eventType, data)
		if err == nil {
			if refused := check(encode(t, eventType, p)); refused != nil {
				t.Fatalf("Decode takes what the schema refuses: %v\n%s", refused, data)
			}
			return
		}
		if check(data) == nil && !beyondSchema(err) {
			t.Fatalf("the schema takes what Decode refuses: %v\n%s", err, data)
		}
	})
}

// beyondSchema reports whether the error is one that a schema cannot find:
// repeated names, integers with a fraction or an exponent, leap seconds, the
// zero time in other words, durations beyond 292 years, below 1 ns or of
// more than a week in a policy, the sum of flap control's clusters, and of a
// scorer's items, a name that a label may give to another item too, and a dead
// body within two bytes of its bound.
func beyondSchema(err error) bool {
	var field *schemas.FieldError
	if !errors.As(err, &field) {
		return false
	}
	last := field.Field[strings.LastIndexByte(field.Field, '.')+1:]
	switch {
	case strings.HasPrefix(field.Reason, "repeats"), strings.Contains(field.Reason, "which is no "):
		return true
	case strings.Contains(field.Reason, "parsing time"), strings.Contains(field.Reason, "invalid duration"):
		return true
	case strings.HasPrefix(field.Reason, "makes up to"), strings.Contains(field.Reason, "which may be an item of"):
		return true
	case strings.Contains(field.Reason, "168h"), strings.HasPrefix(field.Field, "flap."):
		return true
	case last == "validFor", last == "now", last == "from":
		return strings.HasPrefix(field.Reason, "is missing")
	}
	return last == "body"
}

func TestBeyondSchemaIsNarrow(t *testing.T) {
	t.Parallel()
	for name, tc := range badCases() {
		_, err := schemas.Decode(filepath.Dir(name), readFile(t, filepath.Join("testdata/bad", name+".json")))
		if tc.schemaTakesIt && !beyondSchema(err) {
			t.Errorf("%s: %v is not known to be beyond a schema", name, err)
		}
	}
}

func TestNewPayloadsAreEmpty(t *testing.T) {
	t.Parallel()
	for _, eventType := range schemas.Types() {
		p, err := schemas.New(eventType)
		if err != nil || !reflect.ValueOf(p).Elem().IsZero() {
			t.Errorf("New(%s) = %+v, %v", eventType, p, err)
		}
	}
	if _, err := schemas.Decode("dev.spokewire.metrics.observed.v9", []byte("{}")); !errors.Is(err, schemas.ErrUnknownType) {
		t.Errorf("got %v, want ErrUnknownType", err)
	}
}
