package document

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// prices is a document as an exchange might publish it.
const prices = `{"valid": true, "regions": [
	{"name": "eu-north", "price": 41.5, "mix": {"wind": "0.6", "coal": 0}},
	{"name": "eu-central", "price": "98.1", "mix": {"wind": 0.2, "coal": 0.5}},
	{"name": "eu-south", "price": null, "mix": {}}
], "totals": {"eu": 3, "us": 1}}`

func cel(metrics ...config.Mapping) config.JSON { return config.JSON{Metrics: metrics} }

func path(metrics ...config.Mapping) config.JSON {
	return config.JSON{Syntax: config.SyntaxJSONPath, Metrics: metrics}
}

// scrape takes one snapshot of what handler shows.
func scrape(t *testing.T, handler http.HandlerFunc, c config.JSON, edit func(*config.Source)) (sample.Snapshot, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c.URL = server.URL
	source := config.Source{Name: "s", JSON: &c}
	if edit != nil {
		edit(&source)
	}
	source.Default()
	if err := source.Validate(); err != nil {
		t.Fatal(err)
	}
	s, err := New(source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.Scrape(t.Context())
}

func shows(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

func TestMappings(t *testing.T) {
	t.Parallel()
	region := map[string]string{"region": "item.name"}
	for name, tt := range map[string]struct {
		json config.JSON
		want map[string]float64
		left map[sample.Reason]int
	}{
		"a list": {
			json: cel(config.Mapping{Name: "price", Items: "body.regions", Value: "item.price", Labels: region}),
			want: map[string]float64{`price{region="eu-north"}`: 41.5, `price{region="eu-central"}`: 98.1},
			left: map[sample.Reason]int{sample.BadItem: 1},
		},
		"what is missing has a default": {
			json: cel(config.Mapping{Name: "wind", Items: "body.regions", Value: "item.mix.?wind.orValue(0)", Labels: region}),
			want: map[string]float64{`wind{region="eu-north"}`: 0.6, `wind{region="eu-central"}`: 0.2, `wind{region="eu-south"}`: 0},
		},
		"some of a list": {
			json: cel(config.Mapping{Name: "coal", Items: "body.regions.filter(r, r.?mix.?coal.orValue(0) > 0)", Value: "item.mix.coal * 100.0", Labels: region, Unit: "%"}),
			want: map[string]float64{`coal{region="eu-central"}`: 50},
		},
		"an object": {
			json: cel(config.Mapping{NameFrom: `"regions_" + key`, Items: "body.totals", Value: "item"}),
			want: map[string]float64{"regions_eu": 3, "regions_us": 1},
		},
		"the document": {
			json: cel(config.Mapping{Name: "valid", Value: "body.valid"}, config.Mapping{Name: "count", Value: "size(item.regions)", Labels: map[string]string{"n": "1.5", "t": "true", "i": "7"}}),
			want: map[string]float64{"valid": 1, `count{i="7",n="1.5",t="true"}`: 3},
		},
		"no items": {
			json: cel(config.Mapping{Name: "price", Items: "body.regions.filter(r, false)", Value: "1"}, config.Mapping{Name: "one", Value: "1"}),
			want: map[string]float64{"one": 1}, left: map[sample.Reason]int{sample.NoData: 1},
		},
		"a name that is none": {
			json: cel(config.Mapping{NameFrom: `item.name`, Items: "body.regions", Value: "1"}),
			want: map[string]float64{}, left: map[sample.Reason]int{sample.BadName: 3},
		},
		"not finite": {
			json: cel(config.Mapping{Name: "x", Value: "1.0 / 0.0"}, config.Mapping{Name: "y", Value: `"1e999"`}, config.Mapping{Name: "z", Value: "1e308"}),
			want: map[string]float64{"z": 1e308}, left: map[sample.Reason]int{sample.NotFinite: 2},
		},
		"JSONPath, a list": {
			json: path(config.Mapping{Name: "price", Items: "{.regions[*]}", Value: "{.price}", Labels: map[string]string{"region": "{.name}"}}),
			want: map[string]float64{`price{region="eu-north"}`: 41.5, `price{region="eu-central"}`: 98.1},
			left: map[sample.Reason]int{sample.BadItem: 1},
		},
		"JSONPath, filtered, without braces": {
			json: path(config.Mapping{Name: "price", Items: `.regions[?(@.name=="eu-north")]`, Value: ".price"}),
			want: map[string]float64{"price": 41.5},
		},
		"JSONPath, the document": {
			json: path(config.Mapping{Name: "eu", Value: "{.totals.eu}"}, config.Mapping{Name: "all", Value: "{.totals.*}"}),
			want: map[string]float64{"eu": 3}, left: map[sample.Reason]int{sample.BadItem: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scrape(t, shows("application/json; charset=utf-8", prices), tt.json, nil)
			if err != nil {
				t.Fatal(err)
			}
			values, left := map[string]float64{}, map[sample.Reason]int{}
			for _, s := range got.Samples {
				values[s.Series()] = s.Value
			}
			for _, l := range got.Left {
				left[l.Reason] = l.Count
			}
			if tt.left == nil {
				tt.left = map[sample.Reason]int{}
			}
			if diff := cmp.Diff(tt.want, values); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.left, left); diff != "" {
				t.Errorf("left out (-want +got):\n%s\n%v", diff, got.Left)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	one := cel(config.Mapping{Name: "one", Value: "1"})
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		json    config.JSON
		edit    func(*config.Source)
		reason  failure.Reason
		text    string
	}{
		"HTML":             {shows("text/html", "<html>"), one, nil, failure.BadType, "text/html"},
		"HTML that lies":   {shows("application/json", "<html>"), one, nil, failure.BadAnswer, "cannot be read"},
		"half a document":  {shows("application/json", `{"a":`), one, nil, failure.BadAnswer, "cannot be read"},
		"two documents":    {shows("application/json", `{} {}`), one, nil, failure.BadAnswer, "ends at byte"},
		"not found":        {http.NotFound, one, nil, failure.BadStatus, "404"},
		"too large":        {shows("application/json", `[1,2,3]`), one, func(s *config.Source) { s.Limits.BodyBytes = 6 }, failure.TooLarge, "limits.bodyBytes"},
		"no token":         {shows("application/json", `{}`), one, func(s *config.Source) { s.BearerTokenFile = "/none" }, failure.Credentials, "bearerTokenFile"},
		"hangs":            {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, one, func(s *config.Source) { s.Timeout = config.Of(50 * time.Millisecond) }, failure.Timeout, "50ms"},
		"items are away":   {shows("application/json", `{"error": "later"}`), cel(config.Mapping{Name: "x", Items: "body.regions", Value: "1"}), nil, failure.BadAnswer, "json.metrics[0].items: no such key: regions"},
		"items are none":   {shows("application/json", `{"regions": 7}`), cel(config.Mapping{Name: "x", Items: "body.regions", Value: "1"}), nil, failure.BadAnswer, "want a list or an object"},
		"away in JSONPath": {shows("application/json", `{}`), path(config.Mapping{Name: "x", Items: "{.regions[*]}", Value: "{.a}"}), nil, failure.BadAnswer, "json.metrics[0].items: regions is not found"},
		"too many": {
			shows("application/json", "["+strings.Repeat("1,", 100_000)+"1]"), cel(config.Mapping{Name: "x", Items: "body", Value: "item", Labels: map[string]string{"i": "key"}}), nil, failure.TooManySamples, "more than 10000 samples",
		},
		"too dear": {
			shows("application/json", "["+strings.Repeat("1,", 2000)+"1]"), cel(config.Mapping{Name: "x", Items: "body.filter(a, body.exists(b, b == 2))", Value: "item"}),
			func(s *config.Source) { s.Timeout = config.Of(config.MaxTimeout) }, failure.BadAnswer, "cost limit",
		},
		"too slow": {
			shows("application/json", "["+strings.Repeat("1,", 9000)+"1]"), cel(config.Mapping{Name: "x", Items: "body", Value: "size(body.filter(a, a > 0))"}),
			func(s *config.Source) { s.Timeout = config.Of(100 * time.Millisecond) }, failure.Timeout, "100ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := scrape(t, tt.handler, tt.json, tt.edit)
			if failure.Of(err) != tt.reason || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error is %v (%s), want %s with %q", err, failure.Of(err), tt.reason, tt.text)
			}
		})
	}
}

func TestNewNamesTheField(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]config.JSON{
		`json.metrics[1].value is "item."`:         cel(config.Mapping{Name: "x", Value: "1"}, config.Mapping{Name: "y", Value: "item."}),
		`json.metrics[0].items is "item.x"`:        cel(config.Mapping{Name: "x", Items: "item.x", Value: "1"}),
		`json.metrics[0].labels.a is "nosuch(1)"`:  cel(config.Mapping{Name: "x", Value: "1", Labels: map[string]string{"a": "nosuch(1)"}}),
		`json.metrics[0].nameFrom is "{.a[}"`:      path(config.Mapping{NameFrom: "{.a[}", Value: "{.x}"}),
		`json.metrics[0].value is "{.a} and {.b}"`: path(config.Mapping{Name: "x", Value: "{.a} and {.b}"}),
	} {
		_, err := New(config.Source{Name: "s", JSON: &c})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}
