package scoring

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/promquery/promtest"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

func newDesk(t *testing.T, c config.DynamicScoring) *Desk {
	t.Helper()
	if c.Hosts == nil {
		c.Hosts = []string{"127.0.0.1"}
	}
	d, err := New(c, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// ask returns what the hub makes of the desk's answer.
func ask(t *testing.T, d *Desk, q dynamic.Question) (*dynamic.Finding, *dynamic.Failure) {
	t.Helper()
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := d.Answer(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return dynamic.DecodeFinding(answer)
}

func history(end time.Time) string {
	text := "# TYPE load gauge\n" + promtest.History(`load{node="n1"}`, end, time.Minute, 1, 2, 3, 4) + "# TYPE many gauge\n"
	for i := range 6000 {
		text += promtest.History(fmt.Sprintf(`many{i="%d"}`, i), end, time.Minute, 1)
	}
	return text + "# EOF\n"
}

// TestARealPrometheusIsAsked: queries over a range, up to its own now, as a
// scoring API is given them.
func TestARealPrometheusIsAsked(t *testing.T) {
	t.Parallel()
	url := promtest.Start(t, promtest.Options{History: history(time.Now().Truncate(time.Minute))})
	source := func(queries ...string) *dynamic.QuestionSource {
		return &dynamic.QuestionSource{URL: url + "/api/v1/query_range", Queries: queries, Range: 120, Step: 60}
	}
	d := newDesk(t, config.DynamicScoring{})
	finding, failed := ask(t, d, dynamic.Question{Source: source("load", "load * 2")})
	if failed != nil {
		t.Fatal(failed)
	}
	if len(finding.Series) != 2 || finding.Series[0].Metric["node"] != "n1" || len(finding.Series[0].Values) != 3 {
		t.Fatalf("found %+v", finding.Series)
	}
	last := finding.Series[1].Values[2]
	if last.Text != "8" || time.Since(time.Unix(int64(last.Seconds), 0)).Abs() > time.Minute {
		t.Errorf("the last value is %+v", last)
	}
	if want := "2 series with 6 values, from 127.0.0.1:"; !strings.HasPrefix(finding.Read, want) {
		t.Errorf("it was read from %q, want %q…", finding.Read, want)
	}
	instant, failed := ask(t, d, dynamic.Question{Source: &dynamic.QuestionSource{URL: url + "/api/v1/query", Queries: []string{"load", "40 + 2"}}})
	if failed != nil || len(instant.Series) != 2 || len(instant.Series[0].Values) != 1 || instant.Series[0].Values[0].Text != "4" || instant.Series[1].Values[0].Text != "42" {
		t.Errorf("at the present it found %+v (%v)", instant, failed)
	}
	elsewhere := source("load")
	elsewhere.URL = "http://metadata.internal/"
	withToken := source("load")
	withToken.Token = &schemas.TokenRef{Name: "prom", Key: "token"}
	gone := source("load")
	gone.URL = "http://127.0.0.1:1/"
	for name, tt := range map[string]struct {
		source       *dynamic.QuestionSource
		reason, want string
	}{
		"no data":              {source("nothing"), dynamic.NoData, "no query has a series"},
		"an expression":        {source("load", "sum("), dynamic.QueryRefused, `query "sum("`},
		"too many series":      {source("many"), dynamic.TooManySeries, "5000"},
		"a host of its own":    {elsewhere, dynamic.Forbidden, "metadata.internal is not among the hosts"},
		"a token that is away": {withToken, dynamic.TokenMissing, "no directory of tokens"},
		"nobody there":         {gone, dynamic.Unreachable, "http://127.0.0.1:1/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, failed := ask(t, newDesk(t, config.DynamicScoring{}), dynamic.Question{Source: tt.source})
			if failed == nil || failed.Reason != tt.reason || !strings.Contains(failed.Message, tt.want) {
				t.Errorf("got %v, want %s with %q", failed, tt.reason, tt.want)
			}
		})
	}
}

// TestAnAPIInTheClusterIsAsked: it is posted the series, with the cluster's
// own token, and its answer alone goes to the hub.
func TestAnAPIInTheClusterIsAsked(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/score": `{"results":[{"metric":{"node":"n1"},"score":NaN},{"metric":{"node":"n2"},"score":2}]}`,
		"/page":  "<html>login</html>", "/empty": "",
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	t.Cleanup(api.Close)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "api"), 0o700); err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(dir, "api", "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, config.DynamicScoring{TokenDir: dir})
	at := func(path string) dynamic.Question {
		return dynamic.Question{API: &dynamic.QuestionAPI{URL: api.URL + path, Token: &schemas.TokenRef{Name: "api", Key: "token"}}}
	}
	finding, failed := ask(t, d, at("/score"))
	if failed != nil {
		t.Fatal(failed)
	}
	results, failed := dynamic.DecodeAnswer(finding.Answer)
	if failed != nil || len(results) != 2 || results[0].Problem == nil || results[1].Score != 2 {
		t.Errorf("the answer is %s (%v)", finding.Answer, failed)
	}
	for path, reason := range map[string]string{"/page": dynamic.NotJSON, "/empty": dynamic.EmptyAnswer} {
		if _, failed := ask(t, d, at(path)); failed == nil || failed.Reason != reason || !strings.Contains(failed.Message, api.URL+path) {
			t.Errorf("%s: got %v, want %s", path, failed, reason)
		}
	}
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	if _, failed := ask(t, d, at("/score")); failed == nil || failed.Reason != dynamic.TokenMissing || strings.Contains(failed.Message, "secret") {
		t.Errorf("without the token it is %v", failed)
	}
}

func TestSenselessQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	answer, err := newDesk(t, config.DynamicScoring{}).Answer(t.Context(), []byte("{"))
	if err != nil {
		t.Fatal(err)
	}
	if _, failed := dynamic.DecodeFinding(answer); failed == nil || failed.Reason != dynamic.BadConfig {
		t.Errorf("got %v", failed)
	}
}
