package promquery

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/promquery/promtest"
)

func newClient(t testing.TB, url string, edit func(*Options)) *Client {
	t.Helper()
	o := Options{URL: url, Fetch: fetch.Options{MaxBytes: 16 << 20}, MaxSeries: 1000}
	if edit != nil {
		edit(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// minutes is how long the history of the real server is.
const minutes = 30

// history ends at the next full minute: a gauge that grows by one a minute,
// and 200 series.
func history(end time.Time) string {
	var text strings.Builder
	text.WriteString("# TYPE queue gauge\n")
	var values []float64
	for i := range minutes {
		values = append(values, float64(i))
	}
	text.WriteString(promtest.History(`queue{tier="a"}`, end, time.Minute, values...))
	text.WriteString("# TYPE many gauge\n")
	for i := range 200 {
		text.WriteString(promtest.History(fmt.Sprintf(`many{i="%d"}`, i), end, time.Minute, float64(i)))
	}
	return text.String() + "# EOF\n"
}

func TestRealPrometheus(t *testing.T) {
	t.Parallel()
	end := time.Now().Truncate(time.Minute)
	url := promtest.Start(t, promtest.Options{History: history(end)})
	c := newClient(t, url+"/api/v1/query_range", nil)

	t.Run("now", func(t *testing.T) {
		now, err := c.Now(t.Context())
		if err != nil || time.Since(now).Abs() > time.Minute {
			t.Errorf("the server's now is %v, %v", now, err)
		}
	})
	t.Run("instant", func(t *testing.T) {
		r, err := c.Instant(t.Context(), "queue")
		if err != nil {
			t.Fatal(err)
		}
		want := []Series{{Labels: map[string]string{"__name__": "queue", "tier": "a"}, Points: []Point{{Value: minutes - 1}}}}
		if len(r.Series) == 1 {
			r.Series[0].Points[0].Time = time.Time{}
		}
		if diff := cmp.Diff(want, r.Series); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("scalar", func(t *testing.T) {
		if r, err := c.Instant(t.Context(), "40 + 2"); err != nil || len(r.Series) != 1 || r.Series[0].Points[0].Value != 42 {
			t.Errorf("it is %+v, %v", r, err)
		}
	})
	t.Run("range in pages", func(t *testing.T) {
		// 15,000 points, which a server gives in no single answer.
		r, err := c.Range(t.Context(), "sum(queue)", Range{Start: end.Add(-25 * time.Minute), End: end, Step: 100 * time.Millisecond})
		if err != nil || len(r.Series) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		points := r.Series[0].Points
		if len(points) != 15001 || points[0].Value != 4 || points[len(points)-1].Value != minutes-1 {
			t.Errorf("%d points from %v to %v", len(points), points[0], points[len(points)-1])
		}
		for i := 1; i < len(points); i++ {
			if step := points[i].Time.Sub(points[i-1].Time); step != 100*time.Millisecond {
				t.Fatalf("a step of %v at %d", step, i)
			}
		}
	})
	t.Run("a long query", func(t *testing.T) {
		long := "sum(queue) + 0 " + strings.Repeat(" + 0", 1000)
		if r, err := c.Instant(t.Context(), long); err != nil || len(r.Series) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if r, err := c.Instant(t.Context(), "none"); err != nil || len(r.Series) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("a syntax error", func(t *testing.T) {
		_, err := c.Instant(t.Context(), "sum(")
		checkError(t, err, failure.Refused, "bad_data")
	})
	t.Run("too many series", func(t *testing.T) {
		_, err := newClient(t, url, func(o *Options) { o.MaxSeries = 199 }).Instant(t.Context(), "many")
		checkError(t, err, failure.TooManySamples, "more than 199 series")
		if r, err := newClient(t, url, func(o *Options) { o.MaxSeries = 200 }).Instant(t.Context(), "many"); err != nil || len(r.Series) != 200 {
			t.Errorf("%d series, %v", len(r.Series), err)
		}
	})
	t.Run("too many bytes", func(t *testing.T) {
		_, err := newClient(t, url, func(o *Options) { o.Fetch.MaxBytes = 1000 }).Instant(t.Context(), "many")
		checkError(t, err, failure.TooLarge, "limits.bodyBytes, 1000")
	})
	t.Run("a string", func(t *testing.T) {
		_, err := c.Instant(t.Context(), `"word"`)
		checkError(t, err, failure.BadAnswer, `"string"`)
	})
}

func checkError(t *testing.T, err error, reason failure.Reason, text string) {
	t.Helper()
	if failure.Of(err) != reason || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("error is %v (%s), want %s with %q", err, failure.Of(err), reason, text)
	}
}

func answer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func success(data string) http.HandlerFunc {
	return answer(200, "application/json", `{"status":"success","data":`+data+`}`)
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		reason  failure.Reason
		text    string
	}{
		"HTML":               {answer(200, "text/html", "<html>"), failure.BadType, "text/html"},
		"HTML that lies":     {answer(200, "application/json", "<html>"), failure.BadAnswer, "cannot be read"},
		"no body":            {answer(200, "application/json", ""), failure.BadAnswer, "cannot be read"},
		"502 of a proxy":     {answer(502, "text/html", "<html>"), failure.BadStatus, "502"},
		"401":                {answer(401, "application/json", "no"), failure.BadStatus, "401"},
		"something else":     {answer(200, "application/json", `{"ok":true}`), failure.BadAnswer, "status"},
		"timeout of a query": {answer(503, "application/json", `{"status":"error","errorType":"timeout","error":"too slow"}`), failure.Refused, "too slow"},
		"no result":          {success(`{"resultType":"vector"}`), failure.BadAnswer, "no list"},
		"a word for a value": {success(`{"resultType":"vector","result":[{"metric":{},"value":[1,"x"]}]}`), failure.BadAnswer, "no number"},
		"a bare value":       {success(`{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}`), failure.BadAnswer, "series 0"},
		"half a point":       {success(`{"resultType":"matrix","result":[{"metric":{},"values":[[1]]}]}`), failure.BadAnswer, "1 parts"},
		"no time":            {success(`{"resultType":"scalar","result":[1e300,"1"]}`), failure.BadAnswer, "is none"},
		"no value":           {success(`{"resultType":"vector","result":[{"metric":{}}]}`), failure.BadAnswer, "no value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.handler)
			t.Cleanup(server.Close)
			_, err := newClient(t, server.URL, nil).Instant(t.Context(), "up")
			checkError(t, err, tt.reason, tt.text)
		})
	}
}

func TestWarningsAndHistograms(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(answer(200, "application/json", `{"status":"success","warnings":["a store is away"],
		"data":{"resultType":"vector","result":[{"metric":{"a":"b"},"histogram":[1,{}]},{"metric":{},"value":[1.5,"+Inf"]}]}}`))
	t.Cleanup(server.Close)
	r, err := newClient(t, server.URL, nil).Instant(t.Context(), "up")
	if err != nil || len(r.Warnings) != 1 || r.Histograms != 1 || len(r.Series) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A Thanos is asked to refuse rather than to leave stores out, and a query
// string of the URL goes with each request.
func TestRequest(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		seen <- r
		success(`{"resultType":"scalar","result":[1,"1"]}`)(w, r)
	}))
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	ask := func(query string) *http.Request {
		t.Helper()
		c := newClient(t, server.URL+"/thanos/?dedup=false", func(o *Options) { o.Fetch.BearerTokenFile = token })
		if _, err := c.Instant(t.Context(), query); err != nil {
			t.Fatal(err)
		}
		return <-seen
	}
	for method, query := range map[string]string{"GET": "up", "POST": "up" + strings.Repeat(" ", 3000)} {
		if err := os.WriteFile(token, []byte(method), 0o600); err != nil {
			t.Fatal(err)
		}
		r := ask(query)
		want := map[string]string{"query": query, "dedup": "false", "partial_response": "false", "limit": "1001"}
		for name, value := range want {
			if got := r.Form.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", method, name, got, value)
			}
		}
		if r.Method != method || r.URL.Path != "/thanos/api/v1/query" || r.Header.Get("Authorization") != "Bearer "+method {
			t.Errorf("%s %s, Authorization %q; want the token of the file as it is now", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	end := time.Unix(1_000_000, 0)
	for name, tt := range map[string]struct {
		length, step time.Duration
		want         int
	}{
		"one point":     {0, time.Second, 1},
		"a page":        {9999 * time.Second, time.Second, 1},
		"a point more":  {10000 * time.Second, time.Second, 2},
		"no whole step": {1500 * time.Millisecond, time.Second, 1},
	} {
		pages := Range{Start: end.Add(-tt.length), End: end, Step: tt.step}.pages()
		if len(pages) != tt.want || !pages[len(pages)-1].End.Equal(end) {
			t.Errorf("%s: %v", name, pages)
		}
	}
	c := newClient(t, "http://127.0.0.1:1", nil)
	for _, r := range []Range{
		{Start: end, End: end.Add(-1), Step: time.Second},
		{Start: end, End: end},
		{Start: end.Add(-time.Hour), End: end, Step: time.Millisecond},
	} {
		_, err := c.Range(t.Context(), "up", r)
		checkError(t, err, failure.Refused, "a range")
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://h:9090":                        "http://h:9090",
		"http://h:9090/":                       "http://h:9090",
		"https://h/p/api/v1/query":             "https://h/p",
		"https://h/p/api/v1/query_range?a=b":   "https://h/p?a=b",
		"ftp://u:secret@h":                     "",
		"http://u:secret@h:x/":                 "",
		"":                                     "",
		"http://h/api/v1/query/api/v1/query/x": "http://h/api/v1/query/api/v1/query/x",
	} {
		u, err := ParseURL(text)
		switch {
		case want == "" && (err == nil || strings.Contains(err.Error(), "secret")):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err != nil || u.String() != want):
			t.Errorf("%q is %v, %v", text, u, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":[1.5,"1"]}]}}`,
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"NaN"],[2,"-Inf"]]}]},"warnings":["w"]}`,
		`{"status":"success","data":{"resultType":"scalar","result":[1,"1e309"]}}`,
		`{"status":"error","errorType":"bad_data","error":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	json := fetch.Answer{Code: 200, Header: http.Header{"Content-Type": {"application/json"}}}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decode(json, body, 10)
		if err != nil && (failure.Of(err) == "" || err.Error() == "") {
			t.Fatalf("the error %v has no reason", err)
		}
		if len(r.Series) > 10 {
			t.Fatalf("%d series", len(r.Series))
		}
		for _, s := range r.Series {
			if len(s.Points) == 0 {
				t.Fatal("a series without points")
			}
		}
	})
}
