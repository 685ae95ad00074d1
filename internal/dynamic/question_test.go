package dynamic_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestQuestionOfAScorer(t *testing.T) {
	t.Parallel()
	token := &schemas.TokenRef{Name: "prom", Key: "token"}
	s := dynamic.Scorer{URL: "http://api/score", Source: &dynamic.Source{
		URL: "http://prom:9090", Token: token, Queries: []string{"up", "load"}, Range: time.Hour, Step: time.Minute,
	}}
	want := &dynamic.Question{Scorer: "ocm/s", Source: &dynamic.QuestionSource{
		URL: "http://prom:9090", Token: token, Queries: []string{"up", "load"}, Range: 3600, Step: 60,
	}}
	if diff := cmp.Diff(want, s.Question("ocm/s")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	s.Internal = true
	want.API = &dynamic.QuestionAPI{URL: "http://api/score"}
	text, err := json.Marshal(s.Question("ocm/s"))
	if err != nil {
		t.Fatal(err)
	}
	got, failed := dynamic.DecodeQuestion(text)
	if failed != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", failed, cmp.Diff(want, got))
	}
	if q := (&dynamic.Scorer{URL: "http://api/score"}).Question("ocm/s"); q != nil {
		t.Errorf("nothing is to be found out, but it asks %+v", q)
	}
}

func TestSenselessQuestions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`:              "cannot be read",
		`{"scorer":"s"}`: "neither source nor api",
		`{"api":{}}`:     "api.url is empty",
		`{"source":{}}`:  "source.url is empty",
		`{"source":{"url":"http://h","queries":["up"],"range":-1,"step":1}}`:                                "source.params.range is -1",
		`{"source":{"url":"http://h","queries":["up"],"range":60,"step":61}}`:                               "source.params.step is 61",
		`{"source":{"url":"http://h","range":60,"step":1}}`:                                                 "query is empty",
		`{"source":{"url":"http://h","queries":["` + strings.Repeat(`","`, 40) + `"],"range":60,"step":1}}`: "at most 32",
		`{"source":{"url":"http://u:p@h","queries":["up"],"range":60,"step":1}}`:                            "holds a user",
		`{"source":{"url":"file:///etc/passwd","queries":["up"],"range":60,"step":1}}`:                      "want http://",
	} {
		if _, failed := dynamic.DecodeQuestion([]byte(text)); failed == nil || failed.Reason != dynamic.BadConfig || !strings.Contains(failed.Message, want) {
			t.Errorf("%s: got %v, want %q", text, failed, want)
		}
	}
}

func TestFindingSurvivesTheWay(t *testing.T) {
	t.Parallel()
	want := &dynamic.Finding{Read: "1 series", Series: []dynamic.Series{{
		Metric: map[string]string{"node": "n1"},
		Values: []dynamic.Value{{Seconds: 1764590400.25, Text: "0.5"}, {Seconds: 1764590430, Text: "NaN"}, {Seconds: 1764590460, Text: "+Inf"}},
	}}}
	packed, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, failed := dynamic.DecodeFinding(packed)
	if failed != nil || cmp.Diff(want, got) != "" {
		t.Fatalf("%v\n%s", failed, cmp.Diff(want, got))
	}
	body, failed := dynamic.Request(got.Series)
	const posted = `{"data":[{"metric":{"node":"n1"},"values":[[1764590400.25,"0.5"],[1764590430,"NaN"],[1764590460,"+Inf"]]}]}`
	if failed != nil || string(body) != posted {
		t.Errorf("posted is %s (%v), want %s", body, failed, posted)
	}
	if body, _ := dynamic.Request(nil); string(body) != `{"data":null}` {
		t.Errorf("without series it is %s", body)
	}
}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFindingsAreNotTrusted: a spoke may be anybody's.
func TestFindingsAreNotTrusted(t *testing.T) {
	t.Parallel()
	many := `{"series":[` + strings.Repeat(`{"metric":{},"values":[]},`, dynamic.MaxSeries) + `{}]}`
	values := `{"series":[{"values":[` + strings.Repeat(`[1,"1"],`, dynamic.MaxValues) + `[1,"1"]]}]}`
	for name, tt := range map[string]struct {
		data         []byte
		reason, want string
	}{
		"not packed":          {[]byte(`{}`), dynamic.BadAnswer, "unpacked"},
		"cut off":             {pack(t, `{"read":"x"}`)[:20], dynamic.BadAnswer, "unpacked"},
		"not JSON":            {pack(t, "<html>"), dynamic.BadAnswer, "cannot be read"},
		"a bomb":              {pack(t, strings.Repeat(" ", 17<<20)), dynamic.TooLarge, "16777216 bytes"},
		"too many series":     {pack(t, many), dynamic.TooManySeries, "more than 5000 series"},
		"too many values":     {pack(t, values), dynamic.TooManySeries, "more than 200000 values"},
		"endless labels":      {pack(t, `{"series":[{"metric":{"a":"`+strings.Repeat("b", 20_000)+`"}}]}`), dynamic.TooLarge, "labels of a series"},
		"an endless answer":   {pack(t, `{"answer":"`+strings.Repeat("b", 9<<20)+`"}`), dynamic.TooLarge, "scoring API"},
		"no array":            {pack(t, `{"series":{}}`), dynamic.BadAnswer, "want an array"},
		"a text for a number": {pack(t, `{"series":[{"values":[[1,"\"}]{"]]}]}`), dynamic.BadAnswer, "no number"},
		"a reason of its own": {pack(t, `{"failure":{"reason":"Owned","message":"m"}}`), dynamic.BadAnswer, "in the cluster: m"},
		"a known reason":      {pack(t, `{"failure":{"reason":"NoData","message":"m"}}`), dynamic.NoData, "in the cluster: m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, failed := dynamic.DecodeFinding(tt.data); failed == nil || failed.Reason != tt.reason || !strings.Contains(failed.Message, tt.want) {
				t.Errorf("got %v, want %s with %q", failed, tt.reason, tt.want)
			}
		})
	}
}

// TestAFindingCostsWhatItMay: the scorer's memory is not in a spoke's hands.
// It is not parallel, for it counts what is allocated.
func TestAFindingCostsWhatItMay(t *testing.T) {
	for name, text := range map[string]string{
		"series": `{"series":[` + strings.Repeat(`{},`, 2_000_000) + `{}]}`,
		"values": `{"series":[{"values":[` + strings.Repeat(`[1,"1"],`, 1_000_000) + `[1,"1"]]}]}`,
		"labels": `{"series":[{"metric":{"a":""` + strings.Repeat(`,"a":""`, 1_000_000) + `}}]}`,
	} {
		data := pack(t, text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, failed := dynamic.DecodeFinding(data); failed == nil {
			t.Errorf("%s: it is taken", name)
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 256 {
			t.Errorf("%s: %d bytes cost %d MiB", name, len(data), got)
		} else {
			t.Logf("%s: %d bytes cost %d MiB", name, len(data), got)
		}
	}
}

func FuzzDecodeQuestion(f *testing.F) {
	f.Add([]byte(`{"scorer":"ocm/s","source":{"url":"http://prom:9090","queries":["up"],"range":3600,"step":60},"api":{"url":"http://api/score","token":{"name":"a","key":"b"}}}`))
	f.Add([]byte(`{"source":{"url":"http://prom","queries":[""],"range":-1,"step":9223372036854775807}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		q, failed := dynamic.DecodeQuestion(data)
		if failed != nil || q.Source == nil || q.Source.Range == 0 {
			return
		}
		if q.Source.Range < 0 || q.Source.Step <= 0 || q.Source.Range/q.Source.Step > dynamic.MaxPoints {
			t.Errorf("%+v is taken", q.Source)
		}
	})
}

func FuzzDecodeFinding(f *testing.F) {
	f.Add([]byte(`{"read":"1 series","series":[{"metric":{"a":"b"},"values":[[1,"NaN"]]}]}`))
	f.Add([]byte(`{"answer":{"results":[]},"failure":null}`))
	f.Add([]byte(`{"failure":{"reason":"NoData","message":"none"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, failed := dynamic.DecodeFinding(pack(t, string(text)))
		if failed != nil {
			return
		}
		body, failed := dynamic.Request(got.Series)
		if failed != nil || !json.Valid(body) {
			t.Errorf("what is taken cannot be posted: %v\n%s", failed, body)
		}
	})
}
