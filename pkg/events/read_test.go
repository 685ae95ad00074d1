package events_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// messageOf stores e, as it were, under subject.
func messageOf(t testing.TB, subject string, e event.Event) events.Message {
	t.Helper()
	h, data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	return events.Message{Stream: events.StreamMetrics, Subject: subject, Sequence: 7, ReceivedAt: someTime, Header: h, Data: data}
}

// TestAPublishersClockCountsForNothing: a spoke whose clock is off by ten
// minutes, either way, has metrics as fresh as any other's.
func TestAPublishersClockCountsForNothing(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
		e := newMetrics(t)
		e.SetTime(someTime.Add(off))
		e.SetExtension(events.ExtAge, "250")
		r, err := events.Read(messageOf(t, "sw.metric.c.s", e))
		if err != nil {
			t.Fatal(err)
		}
		if want := someTime.Add(-250 * time.Millisecond); !r.ObservedAt.Equal(want) {
			t.Errorf("with a clock that is %s off it is of %s, want %s", off, r.ObservedAt, want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	e := newMetrics(t)
	e.SetExtension(events.ExtAge, "1500")
	m := messageOf(t, "sw.metric.c.s", e)
	r, err := events.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := r.Payload.(*schemas.Metrics)
	if !ok || payload.Samples[0].Value != 3 {
		t.Errorf("payload = %+v", r.Payload)
	}
	if r.Subject != (events.Subject{Family: "metric", Cluster: "c", Name: "s"}) || r.Event.ID() != e.ID() || r.Message.Sequence != 7 {
		t.Errorf("read %+v", r)
	}
	if want := someTime.Add(-1500 * time.Millisecond); !r.ObservedAt.Equal(want) {
		t.Errorf("ObservedAt = %v, want %v", r.ObservedAt, want)
	}
}

// TestReadRefuses: each kind of bad input has its reason and names its
// field.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	hubEvent := func(p schemas.Payload, eventType string) func(*event.Event) {
		return func(e *event.Event) {
			made, err := events.New(eventType, events.ServiceSource("hub-bridge"), p)
			if err != nil {
				t.Fatal(err)
			}
			*e = made
		}
	}
	data := func(text string) func(*event.Event) {
		return func(e *event.Event) { e.DataEncoded = []byte(text) }
	}
	cluster := hubEvent(&schemas.Cluster{Name: "a", UID: "u"}, schemas.TypeHubCluster)
	score := hubEvent(&schemas.Score{Cluster: "a", Scorer: "gpu", Items: []schemas.ScoreItem{{Name: "gpu", Reason: schemas.ScoreNoSample}}}, schemas.TypeScoreComputed)
	deleted := hubEvent(&schemas.Deleted{Name: "a"}, schemas.TypeHubClusterDeleted)
	for name, test := range map[string]struct {
		subject           string
		change            func(*event.Event)
		wantReason, field string
	}{
		"a subject of nobody":         {"sw.metric.*.s", nil, "BadSubject", "subject"},
		"an unknown family":           {"sw.wish.c.s", nil, "BadSubject", "subject"},
		"another cluster's source":    {"sw.metric.other.s", nil, "WrongSource", "source"},
		"another source":              {"sw.metric.c.other", nil, "WrongSource", "source"},
		"another family's type":       {"sw.score.c.s", nil, "WrongType", "type"},
		"a type of somebody else":     {"sw.metric.c.s", func(e *event.Event) { e.SetType("com.example.x") }, "WrongType", "type"},
		"another kind's type":         {"sw.hub.placement._.a", cluster, "WrongType", "type"},
		"a type of the future":        {"sw.metric.c.s", func(e *event.Event) { e.SetType("dev.spokewire.metrics.observed.v99") }, "UnknownType", "type"},
		"not JSON":                    {"sw.metric.c.s", data("gpu_free 3"), "NotJSON", "data"},
		"nothing":                     {"sw.metric.c.s", data(""), "NotJSON", "data"},
		"NaN":                         {"sw.metric.c.s", data(`{"samples":[{"name":"x","value":NaN}]}`), "NotJSON", "samples[0].value"},
		"a string for a number":       {"sw.metric.c.s", data(`{"samples":[{"name":"x","value":"3"}]}`), "BadPayload", ""},
		"a name with a line break":    {"sw.metric.c.s", data(`{"samples":[{"name":"x\ny","value":3}]}`), "BadPayload", "samples[0].name"},
		"no samples":                  {"sw.metric.c.s", data(`{}`), "BadPayload", "samples"},
		"an age of nonsense":          {"sw.metric.c.s", func(e *event.Event) { e.SetExtension(events.ExtAge, "old") }, "BadAge", "age"},
		"an epoch of nonsense":        {"sw.metric.c.s", func(e *event.Event) { e.SetExtension(events.ExtEpoch, "first") }, "BadNumber", "epoch"},
		"a negative epoch":            {"sw.metric.c.s", func(e *event.Event) { e.SetExtension(events.ExtEpoch, "-1") }, "BadNumber", "epoch"},
		"a sequence of nonsense":      {"sw.metric.c.s", func(e *event.Event) { e.SetExtension(events.ExtSequence, "0x10") }, "BadNumber", "sequence"},
		"a sequence beyond all":       {"sw.metric.c.s", func(e *event.Event) { e.SetExtension(events.ExtSequence, "18446744073709551616") }, "BadNumber", "sequence"},
		"another type's schema":       {"sw.metric.c.s", func(e *event.Event) { e.SetDataSchema(events.SchemaURI(schemas.TypeScoreComputed)) }, "WrongSchema", "dataschema"},
		"a name that is not its own":  {"sw.hub.cluster._.b", cluster, "WrongSubject", "name"},
		"another cluster's score":     {"sw.score.b.gpu", score, "WrongSubject", "cluster"},
		"another's dead letter":       {events.DeadSubject("t", "SW_METRICS", 1), hubEvent(deadLetter(), schemas.TypeDeadLetterWritten), "WrongSubject", "service"},
		"a letter on a drop":          {events.DropSubject("1"), hubEvent(deadLetter(), schemas.TypeDeadLetterWritten), "WrongSubject", "service"},
		"a service's drop":            {events.DeadSubject("s", "SW_METRICS", 1), hubEvent(dropped(), schemas.TypeDeadLetterDropped), "WrongSubject", "service"},
		"another scorer's score":      {"sw.score.a.cpu", score, "WrongSubject", "scorer"},
		"a tombstone for another":     {"sw.hub.cluster._.b", deleted, "WrongSubject", "name"},
		"a cluster with a namespace":  {"sw.hub.cluster.n.a", cluster, "WrongSubject", "name"},
		"an envelope without version": {"sw.metric.c.s", func(e *event.Event) { e.SetID("drop the version") }, "NotCloudEvent", "specversion"},
	} {
		e := newMetrics(t)
		if test.change != nil {
			test.change(&e)
		}
		m := messageOf(t, test.subject, e)
		if e.ID() == "drop the version" {
			delete(m.Header, "ce-specversion")
		}
		_, err := events.Read(m)
		var bad *events.BadInput
		if !errors.As(err, &bad) {
			t.Errorf("%s: err = %v, want *BadInput", name, err)
			continue
		}
		if bad.Reason != test.wantReason || test.field != "" && bad.Field != test.field || bad.Field == "" {
			t.Errorf("%s: %s of %q, want %s of %q: %v", name, bad.Reason, bad.Field, test.wantReason, test.field, bad)
		}
		if !strings.Contains(bad.Error(), test.subject) {
			t.Errorf("%s: %v does not name the subject", name, bad)
		}
		if !events.IsPermanent(err) {
			t.Errorf("%s: a retry would not mend it", name)
		}
	}
}

func TestReadAccepts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		subject, eventType string
		payload            schemas.Payload
	}{
		"a cluster":        {events.HubSubject("cluster", "", "a"), schemas.TypeHubCluster, &schemas.Cluster{Name: "a", UID: "u"}},
		"its tombstone":    {events.HubSubject("cluster", "", "a"), schemas.TypeHubClusterDeleted, &schemas.Deleted{Name: "a"}},
		"a score's end":    {events.ScoreSubject("c", "gpu"), schemas.TypeScoreDeleted, &schemas.Deleted{Namespace: "c", Name: "gpu"}},
		"a dead letter":    {events.DeadSubject("s", "SW_METRICS", 1), schemas.TypeDeadLetterWritten, deadLetter()},
		"a drop":           {events.DropSubject("1"), schemas.TypeDeadLetterDropped, dropped()},
		"a decision's end": {events.DecisionSubject("placement", "n", "p"), schemas.TypePlacementDecisionDeleted, &schemas.Deleted{Namespace: "n", Name: "p"}},
	} {
		e, err := events.New(test.eventType, events.ServiceSource("test"), test.payload)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := events.Read(messageOf(t, test.subject, e)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadDocument: what would be refused on any subject is refused on none.
func TestReadDocument(t *testing.T) {
	t.Parallel()
	const metrics = `"specversion":"1.0","id":"e","type":"dev.spokewire.metrics.observed.v1","data":{"samples":[{"name":"a","value":1}]}`
	const source = `"source":"/clusters/a/sources/own"`
	for name, test := range map[string]struct{ document, wantReason, field string }{
		"sound":            {`{` + source + `,"age":"5","epoch":"7","sequence":"00000000000000000001",` + metrics + `}`, "", ""},
		"numbers":          {`{` + source + `,"epoch":7,"sequence":1,` + metrics + `}`, "", ""},
		"its schema":       {`{` + source + `,"dataschema":"https://spokewire.dev/schemas/dev.spokewire.metrics.observed.v1.json",` + metrics + `}`, "", ""},
		"a source of none": {`{"source":"/elsewhere",` + metrics + `}`, "WrongSource", "source"},
		"half a source":    {`{"source":"/clusters/a/sources/",` + metrics + `}`, "WrongSource", "source"},
		"no source":        {`{` + metrics + `}`, "NotCloudEvent", "source"},
		"an epoch":         {`{` + source + `,"epoch":"x",` + metrics + `}`, "BadNumber", "epoch"},
		"a sequence":       {`{` + source + `,"sequence":-1,` + metrics + `}`, "BadNumber", "sequence"},
		"a dataschema":     {`{` + source + `,"dataschema":"https://example.com/x.json",` + metrics + `}`, "WrongSchema", "dataschema"},
		"an age":           {`{` + source + `,"age":"-5",` + metrics + `}`, "BadAge", "age"},
		"a hex number":     {strings.Replace(`{`+source+`,`+metrics+`}`, `"value":1`, `"value":0x1`, 1), "NotCloudEvent", "event"},
		"too large":        {strings.Replace(`{`+source+`,`+metrics+`}`, `"value":1`, `"value":1e400`, 1), "NotCloudEvent", "event"},
		"two":              {`{` + source + `,` + metrics + `} {` + source + `,` + metrics + `}`, "NotCloudEvent", "event"},
		"a score":          {`{"specversion":"1.0","id":"e","type":"dev.spokewire.score.computed.v1","source":"/mine","data":{"cluster":"a","scorer":"s","validFor":"1m","items":[{"name":"s","value":1,"reason":"Computed"}]}}`, "", ""},
	} {
		r, err := events.ReadDocument([]byte(test.document))
		var bad *events.BadInput
		switch {
		case test.wantReason == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.wantReason == "":
			if r.Payload == nil || r.Event.Type() == "" {
				t.Errorf("%s: read %+v", name, r)
			}
		case !errors.As(err, &bad) || bad.Reason != test.wantReason || bad.Field != test.field:
			t.Errorf("%s: %v, want %s of %s", name, err, test.wantReason, test.field)
		}
	}
}

func TestParseClusterSource(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cluster, name string
		wantErr       bool
	}{
		"/clusters/spoke-1/sources/own":     {cluster: "spoke-1", name: "own"},
		"/clusters/a%2Fb/sources/c%20d":     {cluster: "a/b", name: "c d"},
		"/clusters/a/b/sources/c":           {wantErr: true},
		"/clusters//sources/c":              {wantErr: true},
		"/clusters/a/sources/":              {wantErr: true},
		"/clusters/a/scorers/b":             {wantErr: true},
		"clusters/a/sources/b":              {wantErr: true},
		"/clusters/%zz/sources/b":           {wantErr: true},
		"https://x/clusters/a/sources/b":    {wantErr: true},
		"":                                  {wantErr: true},
		"/clusters/%61/sources/not-encoded": {wantErr: true},
	}
	for source, tt := range tests {
		cluster, name, err := events.ParseClusterSource(source)
		if (err != nil) != tt.wantErr || cluster != tt.cluster || name != tt.name {
			t.Errorf("%q: got %q, %q, %v", source, cluster, name, err)
		}
	}
}

func deadLetter() *schemas.DeadLetter {
	letter := events.NewDeadLetter("s", events.Message{Stream: events.StreamMetrics, Subject: "sw.metric.c.s", Sequence: 1, ReceivedAt: someTime}, errors.New("x"))
	return &letter
}

func dropped() *schemas.DeadDropped {
	return &schemas.DeadDropped{Letters: []schemas.DroppedLetter{{Service: "s", Stream: events.StreamMetrics, Sequence: 1}}}
}

func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, subject, headers string, data []byte) {
		r, err := events.Read(events.Message{Subject: subject, Header: headerOf(headers), Data: data, ReceivedAt: someTime})
		var bad *events.BadInput
		switch {
		case err != nil && (!errors.As(err, &bad) || bad.Reason == ""):
			t.Errorf("err = %v, want *BadInput with a reason", err)
		case err == nil && r.Subject.String() != subject:
			t.Errorf("read from %q as from %q", subject, r.Subject)
		case err == nil && r.ObservedAt.After(someTime):
			t.Errorf("observed at %v, after it was received", r.ObservedAt)
		case err == nil:
			if err := r.Payload.Validate(); err != nil {
				t.Errorf("read an invalid payload: %v", err)
			}
		}
	})
}
