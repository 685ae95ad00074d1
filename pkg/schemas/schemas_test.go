package schemas_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestSeries(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"no labels":       {nil, "m"},
		"sorted":          {map[string]string{"b": "2", "a": "1"}, `m{a="1",b="2"}`},
		"quoted value":    {map[string]string{"a": "x\"\n\\"}, `m{a="x\"\n\\"}`},
		"quoted name":     {map[string]string{"a.b": "1"}, `m{"a.b"="1"}`},
		"name with digit": {map[string]string{"1a": "1"}, `m{"1a"="1"}`},
		"forged":          {map[string]string{`a="1",b`: "2"}, `m{"a=\"1\",b"="2"}`},
		"many": {
			map[string]string{"a": "", "b": "", "c": "", "d": "", "e": "", "f": "", "g": "", "h": "", "i": ""},
			`m{a="",b="",c="",d="",e="",f="",g="",h="",i=""}`,
		},
	} {
		s := schemas.Sample{Name: "m", Labels: tc.labels}
		if got := s.Series(); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`"60s"`: time.Minute, `"1m30s"`: 90 * time.Second, `"1.5h"`: 90 * time.Minute, `"0"`: 0, `"-1s"`: -time.Second, `"250ms"`: 250 * time.Millisecond,
	} {
		var d schemas.Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s is %v (%v), want %v", text, d, err, want)
		}
	}
	for _, text := range []string{`60`, `"60"`, `""`, `"1 s"`, `"9999999h"`, `{}`} {
		if err := json.Unmarshal([]byte(text), new(schemas.Duration)); err == nil {
			t.Errorf("%s is taken for a duration", text)
		}
	}
	if got, err := json.Marshal(schemas.Duration(90 * time.Second)); err != nil || string(got) != `"1m30s"` {
		t.Errorf("90 s are written %s (%v)", got, err)
	}
}

func TestCheckMetricName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "_", ":x", "gpu_free", "node:cpu.p99", strings.Repeat("a", schemas.MaxNameLength)} {
		if reason := schemas.CheckMetricName(name); reason != "" {
			t.Errorf("%q %s", name, reason)
		}
	}
	for name, want := range map[string]string{
		"":         "is empty",
		"1a":       "byte 0 is '1'",
		".a":       "byte 0 is '.'",
		"a b":      "byte 1 is ' '",
		"a\n":      `byte 1 is '\n'`,
		"a-b":      "byte 1 is '-'",
		"näme":     "byte 1 is",
		"{__name}": "byte 0 is '{'",
		strings.Repeat("a", schemas.MaxNameLength+1): "257 bytes long, at most 256",
	} {
		if got := schemas.CheckMetricName(name); !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want it to contain %q", name, got, want)
		}
	}
}

// What a publisher in Go can hold and JSON cannot.
func TestValidateOfWhatJSONCannotCarry(t *testing.T) {
	t.Parallel()
	value := int32(1)
	infinite := math.Inf(1)
	for name, tc := range map[string]struct {
		payload   schemas.Payload
		wantField string
	}{
		"NaN":            {&schemas.Metrics{Samples: []schemas.Sample{{Name: "a", Value: math.NaN()}}}, "samples[0].value"},
		"infinity":       {&schemas.Metrics{Samples: []schemas.Sample{{Name: "a", Value: infinite}}}, "samples[0].value"},
		"label bytes":    {&schemas.Metrics{Samples: []schemas.Sample{{Name: "a", Labels: map[string]string{"x": "\xff"}}}}, "samples[0].labels"},
		"unit bytes":     {&schemas.Metrics{Samples: []schemas.Sample{{Name: "a", Unit: "\xff"}}}, "samples[0].unit"},
		"too many":       {&schemas.Metrics{Samples: make([]schemas.Sample, schemas.MaxSamples+1)}, "samples"},
		"infinite raw":   {&schemas.Score{Cluster: "c", Scorer: "s", Items: []schemas.ScoreItem{{Name: "i", Value: &value, Raw: &infinite, Reason: "r"}}}, "items[0].raw"},
		"too many items": {&schemas.Score{Cluster: "c", Scorer: "s", Items: make([]schemas.ScoreItem, schemas.MaxScoreItems+1)}, "items"},
		"spec not JSON":  {&schemas.Placement{Name: "n", Namespace: "n", UID: "u", Spec: json.RawMessage("{")}, "spec"},
	} {
		err := tc.payload.Validate()
		var field *schemas.FieldError
		if !errors.As(err, &field) || field.Field != tc.wantField {
			t.Errorf("%s: got %v, want a FieldError of %s", name, err, tc.wantField)
		}
	}
}

// Lengths are counted as JSON Schema counts them.
func TestLabelLengthsAreInCharacters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", schemas.MaxLabelLength)
	if reason := schemas.CheckLabel("a", long); reason != "" {
		t.Errorf("%d characters: %s", schemas.MaxLabelLength, reason)
	}
	if reason := schemas.CheckLabel("a", long+"x"); !strings.Contains(reason, "1025 characters") {
		t.Errorf("got %q, want one that counts 1025 characters", reason)
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	received := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	until := received.Add(time.Hour)
	for name, tc := range map[string]struct {
		score schemas.Score
		want  time.Time
	}{
		"until":     {schemas.Score{ValidUntil: &until}, until},
		"for":       {schemas.Score{ValidFor: schemas.Duration(time.Minute)}, received.Add(time.Minute)},
		"no expiry": {schemas.Score{}, time.Time{}},
	} {
		if got := tc.score.Expiry(received); !got.Equal(tc.want) {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

func TestIsDeleted(t *testing.T) {
	t.Parallel()
	for _, eventType := range schemas.Types() {
		if got, want := schemas.IsDeleted(eventType), strings.HasSuffix(eventType, ".deleted.v1"); got != want {
			t.Errorf("IsDeleted(%s) = %v", eventType, got)
		}
	}
	if schemas.IsDeleted("other") {
		t.Error("an unknown type is a tombstone")
	}
}

// Decode must stay linear in what one event can hold.
func TestDecodeTakesTheLargestSnapshot(t *testing.T) {
	t.Parallel()
	var m schemas.Metrics
	for i := range schemas.MaxSamples {
		m.Samples = append(m.Samples, schemas.Sample{Name: "a", Value: float64(i), Labels: map[string]string{"i": string(rune('a'+i%26)) + strings.Repeat("x", i%7), "n": time.Duration(i).String()}})
	}
	data, err := json.Marshal(&m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schemas.Decode(schemas.TypeMetricsObserved, data); err != nil {
		t.Error(err)
	}
}
