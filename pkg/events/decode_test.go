package events_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
)

// TestDecodeByHand: what people write without this package.
func TestDecodeByHand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header   events.Header
		data     string
		wantType string // of the data
	}{
		"nats pub with four headers": {minimal(nil), `{}`, "application/json"},
		"with a Content-Type":        {minimal(events.Header{"Content-Type": {"text/plain"}}), `x`, "text/plain"},
		"with both":                  {minimal(events.Header{"Content-Type": {"text/plain"}, "ce-datacontenttype": {"application/json"}}), `{}`, "application/json"},
		"with other headers":         {minimal(events.Header{"Nats-Msg-Id": {"1"}, "X-Other": {"%zz"}}), `{}`, "application/json"},
		"structured, with charset": {events.Header{"Content-Type": {"application/cloudevents+json; charset=utf-8"}},
			`{"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":"application/json","data":{}}`, "application/json"},
	} {
		e, err := events.Decode(events.Message{Header: test.header, Data: []byte(test.data)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.ID() != "1" || e.Type() != "t" || e.DataContentType() != test.wantType {
			t.Errorf("%s: id %q, type %q, data of type %q", name, e.ID(), e.Type(), e.DataContentType())
		}
	}
}

// minimal is what an event cannot go without, and more.
func minimal(more events.Header) events.Header {
	h := events.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"/s"}, "ce-type": {"t"}}
	maps.Copy(h, more)
	return h
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	structured := events.Header{"Content-Type": {"application/cloudevents+json"}}
	for name, test := range map[string]struct {
		header    events.Header
		data      string
		wantField string
	}{
		"no headers":            {nil, `{}`, "specversion"},
		"only a status":         {events.Header{"Status": {"409"}}, ``, "specversion"},
		"an old version":        {minimal(events.Header{"ce-specversion": {"0.3"}}), ``, "specversion"},
		"an empty id":           {minimal(events.Header{"ce-id": {""}}), ``, "id"},
		"two ids":               {minimal(events.Header{"ce-id": {"1", "2"}}), ``, "id"},
		"no value":              {minimal(events.Header{"ce-id": {}}), ``, "id"},
		"upper case":            {minimal(events.Header{"ce-Foo": {"1"}}), ``, "Foo"},
		"a dash":                {minimal(events.Header{"ce-a-b": {"1"}}), ``, "a-b"},
		"no name":               {minimal(events.Header{"ce-": {"1"}}), ``, ""},
		"a bad time":            {minimal(events.Header{"ce-time": {"yesterday"}}), ``, "time"},
		"a bad source":          {minimal(events.Header{"ce-source": {"%25zz"}}), ``, "source"},
		"a bad schema":          {minimal(events.Header{"ce-dataschema": {"x"}}), ``, "dataschema"},
		"a bad content type":    {minimal(events.Header{"ce-datacontenttype": {";"}}), ``, "datacontenttype"},
		"half a percent code":   {minimal(events.Header{"ce-subject": {"%2"}}), ``, "subject"},
		"not UTF-8":             {minimal(events.Header{"ce-subject": {"%FF"}}), ``, "subject"},
		"structured, not JSON":  {structured, `{`, "event"},
		"structured, empty":     {structured, ``, "event"},
		"structured, a list":    {structured, `[]`, "event"},
		"structured, version":   {structured, `{"specversion":"0.3","id":"1","source":"/s","type":"t"}`, "specversion"},
		"structured, no source": {structured, `{"specversion":"1.0","id":"1","type":"t"}`, "source"},
		"structured, and more":  {structured, `{"specversion":"1.0","id":"1","source":"/s","type":"t"} {}`, "event"},
		"structured, nameless":  {structured, `{"specversion":"1.0","id":"1","source":"/s","type":"t","":1,"age":"-1"}`, "event"},
		"structured, schema":    {structured, `{"specversion":"1.0","id":"1","source":"/s","type":"t","dataschema":"x"}`, "dataschema"},
		"structured, no schema": {structured, `{"specversion":"1.0","id":"1","source":"/s","type":"t","dataschema":""}`, "dataschema"},
	} {
		_, err := events.Decode(events.Message{Subject: "sw.x", Header: test.header, Data: []byte(test.data)})
		var bad *events.BadInput
		if !errors.As(err, &bad) {
			t.Errorf("%s: err = %v, want *BadInput", name, err)
			continue
		}
		if bad.Reason != "NotCloudEvent" || bad.Field != test.wantField || !strings.HasPrefix(bad.Error(), "sw.x: ") {
			t.Errorf("%s: reason %s, field %q, want %q: %v", name, bad.Reason, bad.Field, test.wantField, bad)
		}
	}
}

// TestDecodeSaysWhere: a body that is not JSON is refused with the place.
func TestDecodeSaysWhere(t *testing.T) {
	t.Parallel()
	body := `{"specversion":"1.0","id":"1","source":"/s","type":"t","data":{"samples":[{"name":"a","value":NaN}]}}`
	_, err := events.Decode(events.Message{Subject: "sw.x", Header: events.Header{"Content-Type": {"application/cloudevents+json"}}, Data: []byte(body)})
	if err == nil || !strings.HasSuffix(err.Error(), "at data.samples[0].value") {
		t.Errorf("got %v, want the place of what is not JSON", err)
	}
}

// FuzzDecode takes a body and headers as text, one a line.
func FuzzDecode(f *testing.F) {
	f.Fuzz(func(t *testing.T, headers string, data []byte) {
		m := events.Message{Subject: "sw.x", Header: headerOf(headers), Data: data}
		e, err := events.Decode(m)
		if err != nil {
			var bad *events.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("err = %v, want *BadInput", err)
			}
			return
		}
		h, body, err := events.Encode(e)
		if err != nil {
			t.Fatalf("decoded but not encoded: %v", err)
		}
		again, err := events.Decode(events.Message{Subject: "sw.x", Header: h, Data: body})
		if err != nil {
			t.Fatalf("encoded but not decoded: %v", err)
		}
		if again.ID() != e.ID() || again.Source() != e.Source() || again.Type() != e.Type() || again.Subject() != e.Subject() || string(again.Data()) != string(e.Data()) {
			t.Errorf("came back different:\n%s\n%s", e, again)
		}
	})
}

func headerOf(lines string) events.Header {
	h := events.Header{}
	for line := range strings.Lines(lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		h[key] = append(h[key], value)
	}
	return h
}

func BenchmarkDecode(b *testing.B) {
	for mode, encode := range map[string]func(event.Event) (events.Header, []byte, error){
		"binary": events.Encode, "structured": events.EncodeStructured,
	} {
		h, data, err := encode(withAll(b))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(mode, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := events.Decode(events.Message{Header: h, Data: data}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
