package events_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var someTime = time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)

func metrics(name string, value float64) *schemas.Metrics {
	return &schemas.Metrics{Samples: []schemas.Sample{{Name: name, Value: value}}}
}

func newMetrics(t testing.TB) event.Event {
	t.Helper()
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("c", "s"), metrics("gpu_free", 3))
	if err != nil {
		t.Fatal(err)
	}
	e.SetTime(someTime)
	return e
}

func withAll(t testing.TB) event.Event {
	e := newMetrics(t)
	e.SetSubject(`50% "of" é 世界`)
	e.SetExtension(events.ExtEpoch, "3")
	e.SetExtension(events.ExtSequence, "00000000000000000042")
	e.SetExtension(events.ExtPartitionKey, "a b")
	return e
}

func binaryData(t testing.TB) event.Event {
	e := newMetrics(t)
	e.SetDataContentType("application/octet-stream")
	e.DataEncoded, e.DataBase64 = []byte{0, 1, 0xff}, true
	return e
}

func TestNew(t *testing.T) {
	t.Parallel()
	e := newMetrics(t)
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	if e.DataSchema() != "https://spokewire.dev/schemas/dev.spokewire.metrics.observed.v1.json" || e.Source() != "/clusters/c/sources/s" {
		t.Errorf("dataschema %q, source %q", e.DataSchema(), e.Source())
	}
	if other := newMetrics(t); other.ID() == e.ID() || len(e.ID()) < 20 {
		t.Errorf("ids %q and %q, want two that nobody guesses", e.ID(), other.ID())
	}
	var field *schemas.FieldError
	_, err := events.New(schemas.TypeMetricsObserved, "/x", metrics("no name", 1))
	if !errors.As(err, &field) || field.Field != "samples[0].name" {
		t.Errorf("a bad payload: err = %v, want its field", err)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]event.Event{
		"plain": newMetrics(t), "all attributes": withAll(t), "binary data": binaryData(t),
	} {
		for mode, encode := range map[string]func(event.Event) (events.Header, []byte, error){
			"binary": events.Encode, "structured": events.EncodeStructured,
		} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				h, data, err := encode(e)
				if err != nil {
					t.Fatal(err)
				}
				got, err := events.Decode(events.Message{Header: h, Data: data})
				if err != nil {
					t.Fatal(err)
				}
				// sdk-go's own JSON is the judge of equality.
				if diff := cmp.Diff(asJSON(t, e), asJSON(t, got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

func asJSON(t testing.TB, e event.Event) map[string]any {
	t.Helper()
	data, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return fields
}

func TestEncodeBinary(t *testing.T) {
	t.Parallel()
	e := withAll(t)
	e.SetID("id 1")
	h, data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	want := events.Header{
		"ce-specversion":     {"1.0"},
		"ce-id":              {"id%201"},
		"ce-source":          {"/clusters/c/sources/s"},
		"ce-type":            {"dev.spokewire.metrics.observed.v1"},
		"ce-time":            {"2026-11-30T12:00:00.123456789Z"},
		"ce-subject":         {"50%25%20%22of%22%20%C3%A9%20%E4%B8%96%E7%95%8C"},
		"ce-dataschema":      {"https://spokewire.dev/schemas/dev.spokewire.metrics.observed.v1.json"},
		"ce-datacontenttype": {"application/json"},
		"ce-epoch":           {"3"},
		"ce-sequence":        {"00000000000000000042"},
		"ce-partitionkey":    {"a%20b"},
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if string(data) != `{"samples":[{"name":"gpu_free","value":3}]}` {
		t.Errorf("data = %s", data)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*event.Event)
		want   string // in the error
	}{
		"no id":             {func(e *event.Event) { e.SetID("") }, "id "},
		"a bad extension":   {func(e *event.Event) { e.SetExtension("no-dash", "x") }, "no-dash "},
		"a bad source":      {func(e *event.Event) { e.SetSource("%zz") }, "source "},
		"an old version":    {func(e *event.Event) { e.SetSpecVersion("0.3") }, "specversion "},
		"no context at all": {func(e *event.Event) { *e = event.Event{} }, "specversion "},
	} {
		e := newMetrics(t)
		test.change(&e)
		for mode, encode := range map[string]func(event.Event) (events.Header, []byte, error){
			"binary": events.Encode, "structured": events.EncodeStructured,
		} {
			_, _, err := encode(e)
			if !errors.Is(err, events.ErrInvalidEvent) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %s: err = %v, want ErrInvalidEvent with %q", name, mode, err, test.want)
			}
		}
	}
	e := newMetrics(t)
	e.DataEncoded = []byte("{")
	if _, _, err := events.EncodeStructured(e); !errors.Is(err, events.ErrInvalidEvent) {
		t.Errorf("data that is no JSON: err = %v, want ErrInvalidEvent", err)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		age  any
		want time.Duration
		bad  bool
	}{
		"none":       {nil, 0, false},
		"zero":       {"0", 0, false},
		"some":       {"1500", 1500 * time.Millisecond, false},
		"a number":   {int32(20), 20 * time.Millisecond, false},
		"negative":   {"-1", 0, true},
		"a fraction": {"1.5", 0, true},
		"text":       {"soon", 0, true},
		"too much":   {"99999999999999", 0, true},
	} {
		e := newMetrics(t)
		e.SetExtension(events.ExtAge, test.age)
		got, err := events.Age(e)
		var bad *events.BadInput
		if got != test.want || errors.As(err, &bad) != test.bad || bad != nil && bad.Field != "age" {
			t.Errorf("%s: Age = %v, %v, want %v", name, got, err, test.want)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	e := withAll(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := events.Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}
