package query

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/promquery"
	"github.com/spokewire/spokewire/internal/promquery/promtest"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

func newSource(t *testing.T, url string, edit func(*config.Source), queries ...config.Query) *Source {
	t.Helper()
	c := config.Source{Name: "s", Prometheus: &config.Prometheus{URL: url, Queries: queries}}
	if edit != nil {
		edit(&c)
	}
	c.Default()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// history is a gauge of two pools, over the last half hour, and many series.
func history(end time.Time) string {
	text := "# TYPE gpu gauge\n"
	var values []float64
	for i := range 30 {
		values = append(values, float64(i))
	}
	text += promtest.History(`gpu{pool="a"}`, end, time.Minute, values...)
	text += promtest.History(`gpu{pool="b"}`, end, time.Minute, make([]float64, 30)...)
	text += "# TYPE many gauge\n"
	for i := range 300 {
		text += promtest.History(fmt.Sprintf(`many{i="%d"}`, i), end, time.Minute, 1)
	}
	return text + "# EOF\n"
}

func series(s sample.Snapshot) map[string]float64 {
	all := map[string]float64{}
	for _, one := range s.Samples {
		all[one.Series()] = one.Value
	}
	return all
}

func left(s sample.Snapshot) map[sample.Reason]int {
	all := map[sample.Reason]int{}
	for _, l := range s.Left {
		all[l.Reason] = l.Count
	}
	return all
}

func TestRealPrometheus(t *testing.T) {
	t.Parallel()
	end := time.Now().Truncate(time.Minute)
	url := promtest.Start(t, promtest.Options{History: history(end)})
	overRange := func(by config.Aggregate) config.Query {
		return config.Query{Name: "gpu_" + string(by), Query: `sum(gpu{pool="a"})`, Range: config.Of(20 * time.Minute), Step: config.Of(time.Minute), Aggregate: by}
	}
	tests := map[string]struct {
		queries []config.Query
		edit    func(*config.Source)
		want    map[string]float64
		left    map[sample.Reason]int
		reason  failure.Reason
		text    string
	}{
		"instant, with its own name": {
			queries: []config.Query{{Query: "gpu"}},
			want:    map[string]float64{`gpu{pool="a"}`: 29, `gpu{pool="b"}`: 0},
		},
		"several": {
			queries: []config.Query{{Name: "gpu_all", Query: "sum(gpu)", Unit: "cards"}, {Name: "answer", Query: "scalar(vector(42))"}},
			want:    map[string]float64{"gpu_all": 29, "answer": 42},
		},
		"rules": {
			queries: []config.Query{{Query: "gpu"}, {Query: "many"}},
			edit: func(s *config.Source) {
				s.Drop, s.Labels.Drop = []string{"many"}, []string{"none"}
				s.Rename = []config.Rename{{From: "gpu", To: "card"}}
			},
			want: map[string]float64{`card{pool="a"}`: 29, `card{pool="b"}`: 0}, left: map[sample.Reason]int{sample.Dropped: 300},
		},
		"no name": {
			queries: []config.Query{{Query: "sum(gpu)"}, {Query: "gpu"}},
			want:    map[string]float64{`gpu{pool="a"}`: 29, `gpu{pool="b"}`: 0}, left: map[sample.Reason]int{sample.BadName: 1},
		},
		"no data": {
			queries: []config.Query{{Name: "gone", Query: "none"}, {Query: `gpu{pool="b"}`}},
			want:    map[string]float64{`gpu{pool="b"}`: 0}, left: map[sample.Reason]int{sample.NoData: 1},
		},
		"not a number": {
			queries: []config.Query{{Name: "ratio", Query: `gpu{pool="b"} / gpu{pool="b"}`}, {Name: "huge", Query: "vector(1e308 * 10)"}, {Name: "large", Query: "vector(1e308)"}},
			want:    map[string]float64{"large": 1e308}, left: map[sample.Reason]int{sample.NotFinite: 2},
		},
		"one fails": {
			queries: []config.Query{{Query: "gpu"}, {Query: "sum("}},
			reason:  failure.Refused, text: "prometheus.queries[1]: ",
		},
		"too many of one": {
			queries: []config.Query{{Query: "many"}}, edit: func(s *config.Source) { s.Limits.Samples = 299 },
			reason: failure.TooManySamples, text: "more than 299 series",
		},
		"too many of all": {
			queries: []config.Query{{Query: "many"}, {Query: "gpu"}}, edit: func(s *config.Source) { s.Limits.Samples = 301 },
			reason: failure.TooManySamples, text: "more than 301 samples",
		},
		"too large": {
			queries: []config.Query{{Query: "many"}}, edit: func(s *config.Source) { s.Limits.BodyBytes = 1000 },
			reason: failure.TooLarge, text: "limits.bodyBytes",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := newSource(t, url, tt.edit, tt.queries...).Scrape(t.Context())
			if failure.Of(err) != tt.reason || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("error is %v (%s), want %q (%s)", err, failure.Of(err), tt.text, tt.reason)
			}
			if tt.want == nil {
				tt.want = map[string]float64{}
			}
			if tt.left == nil {
				tt.left = map[sample.Reason]int{}
			}
			if diff := cmp.Diff(tt.want, series(got)); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.left, left(got)); err == nil && diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("range", func(t *testing.T) {
		got, err := newSource(t, url, nil, overRange(config.Last), overRange(config.Avg), overRange(config.Min), overRange(config.Max)).Scrape(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := series(got)
		// The range ends now, so what it begins with depends on the clock.
		if least := all["gpu_min"]; least < 8 || least > 12 || all["gpu_max"] != 29 || all["gpu_last"] != 29 {
			t.Errorf("samples are %v", all)
		}
		if avg := all["gpu_avg"]; avg <= all["gpu_min"] || avg >= 29 {
			t.Errorf("the average is %v of %v", avg, all)
		}
	})
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	points := func(values ...float64) (all []promquery.Point) {
		for _, v := range values {
			all = append(all, promquery.Point{Value: v})
		}
		return all
	}
	nan := math.NaN()
	gaps := points(nan, 4, nan, 1, 7, 2, nan)
	for by, want := range map[config.Aggregate]float64{"": 2, config.Last: 2, config.Avg: 3.5, config.Min: 1, config.Max: 7} {
		if got := aggregate(gaps, by); got != want {
			t.Errorf("%s is %v, want %v", by, got, want)
		}
		if got := aggregate(points(nan, nan), by); !math.IsNaN(got) {
			t.Errorf("%s of nothing is %v", by, got)
		}
	}
	if got := aggregate(points(math.MaxFloat64, math.MaxFloat64), config.Avg); !math.IsInf(got, 1) {
		t.Errorf("the average of what no sum can hold is %v: it must not become a number", got)
	}
}

// What a token file's vanishing, a web page and a hanging server do.
func TestFaults(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html><body>hello")) }))
	t.Cleanup(page.Close)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(hangs.Close)
	up := config.Query{Query: "up"}
	for name, tt := range map[string]struct {
		url    string
		edit   func(*config.Source)
		reason failure.Reason
	}{
		"HTML with status 200": {page.URL, nil, failure.BadType},
		"no token":             {page.URL, func(s *config.Source) { s.BearerTokenFile = filepath.Join(os.TempDir(), "no", "token") }, failure.Credentials},
		"hangs":                {hangs.URL, func(s *config.Source) { s.Timeout = config.Of(50 * time.Millisecond) }, failure.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := newSource(t, tt.url, tt.edit, up).Scrape(t.Context()); failure.Of(err) != tt.reason {
				t.Errorf("error is %v (%s), want %s", err, failure.Of(err), tt.reason)
			}
		})
	}
}
