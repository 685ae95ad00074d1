package dynamic

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestDecodeAnswer(t *testing.T) {
	t.Parallel()
	body := `{"took": 3, "results": [
		{"metric": {"node": "n1", "port": 80, "up": true, "x": null}, "score": 12.5, "why": "…"},
		{"metric": {}, "score": NaN}, {"metric": {"text": "NaN \" Infinity"}, "score": -Infinity},
		{"score": "12"}, {"metric": {}}, {"metric": {}, "score": null}, {"metric": {}, "score": true},
		{"metric": {}, "score": 1e308}, {"metric": {}, "score": 1e400}, 7, {"metric": []}]}`
	results, f := DecodeAnswer([]byte(body))
	if f != nil {
		t.Fatal(f)
	}
	var got []string
	for _, r := range results {
		if r.Problem != nil {
			got = append(got, r.Problem.Reason)
			continue
		}
		got = append(got, fmt.Sprint(r.Score))
	}
	want := []string{"12.5", NotANumber, NotANumber, NotANumber, NotANumber, NotANumber, NotANumber, "1e+308", NotANumber, BadAnswer, BadAnswer}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"node": "n1", "port": "80", "up": "true"}, results[0].Metric); diff != "" {
		t.Errorf("labels: -want +got\n%s", diff)
	}
	if got := results[2].Metric["text"]; got != `NaN " Infinity` {
		t.Errorf("a label became %q", got)
	}
}

func TestDecodeAnswerRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	many := `{"results":[` + strings.TrimSuffix(strings.Repeat(`{},`, MaxResults+1), ",") + `]}`
	for name, tt := range map[string]struct{ body, reason, text string }{
		"nothing":      {"", EmptyAnswer, "is empty"},
		"space":        {" \n", EmptyAnswer, "is empty"},
		"HTML":         {"<!doctype html><html>It works!</html>", NotJSON, "page of HTML"},
		"text":         {"Internal error", NotJSON, "Internal error"},
		"cut off":      {`{"results":[{"metric":`, NotJSON, "not JSON"},
		"a list":       {`[1]`, BadAnswer, "results"},
		"no results":   {`{"scores":[]}`, BadAnswer, "has no results"},
		"null results": {`{"results":null}`, BadAnswer, "has no results"},
		"a text":       {`{"results":"all good"}`, BadAnswer, "results"},
		"too many":     {many, TooManyResults, "10001 results"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, f := DecodeAnswer([]byte(tt.body))
			if f == nil || f.Reason != tt.reason || !strings.Contains(f.Message, tt.text) {
				t.Errorf("got %v, %v, want %s with %q", results, f, tt.reason, tt.text)
			}
		})
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"results":[{"metric":{"node":"a"},"score":12.3}]}`, `{"results":[{"metric":{"a":"NaN"},"score":NaN}]}`, `{"results":[]}`,
		`<html>`, ``, `{"results":[{"score":-Infinity},{"score":"1"},{"score":1e308}]}`, `"\`, `{"results":[{"metric":{"a":1}}]}`,
	} {
		f.Add([]byte(seed))
	}
	s := &Scorer{Name: "s", ScoreName: "s", Format: "${node}${app}-${scoreName}"}
	f.Fuzz(func(t *testing.T, body []byte) {
		results, failed := DecodeAnswer(body)
		if failed != nil {
			if failed.Reason == "" || len(failed.Message) > maxMessage+len("…") {
				t.Errorf("%+v", failed)
			}
			return
		}
		own, failed := For("c1", results)
		if failed != nil {
			return
		}
		items, failed := s.Items("c1", own, Answered{URL: "http://a"})
		if (failed == nil) == (len(items) == 0) {
			t.Fatalf("%d items and failure %v", len(items), failed)
		}
		if failed != nil {
			return
		}
		result := score.Result{Items: items}
		event := schemas.Score{Cluster: "c1", Scorer: "s", Items: result.Score(), ValidFor: schemas.Duration(1)}
		if err := event.Validate(); err != nil {
			t.Errorf("the score is refused: %v", err)
		}
	})
}

func FuzzDecodeConfig(f *testing.F) {
	f.Add([]byte(`{"name":"a","description":"b","source":{"type":"None"},"scoring":{"path":"/s","params":{"name":"n","interval":30}}}`))
	f.Add([]byte(`{"source":{"params":{"range":1.5}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, failed := DecodeConfig(body)
		if failed != nil {
			return
		}
		s, failed := Resolve(spec(), c)
		if failed == nil && (s.Name == "" || s.URL == "" || s.Interval < MinInterval) {
			t.Errorf("%+v", s)
		}
	})
}

func TestDecodeConfig(t *testing.T) {
	t.Parallel()
	c, f := DecodeConfig([]byte(`{"name":"static","description":"d","version":2,"source":{"type":"None"},
		"scoring":{"path":"/performance/scoring","params":{"name":"example_score","interval":30}}}`))
	if f != nil || c.Source.Type != "None" || c.Scoring.Params.Name != "example_score" || c.Scoring.Params.Interval != 30 {
		t.Errorf("got %+v, %v", c, f)
	}
	for body, want := range map[string]string{
		"":                              "is empty",
		"<html>":                        "HTML",
		`[]`:                            "whole is a JSON array",
		`{"scoring":{"params":"soon"}}`: "scoring.params is a JSON string",
		`{"source":{"params":{"query":"` + strings.Repeat("q", schemas.MaxDynamicQuery+1) + `"}}}`: "source.params.query",
	} {
		if _, f := DecodeConfig([]byte(body)); f == nil || !strings.Contains(f.Message, want) {
			t.Errorf("%.40s: %v, want %q", body, f, want)
		}
	}
}

func result(score float64, labels ...string) Result {
	r := Result{Metric: map[string]string{}, Score: score}
	for i := 0; i+1 < len(labels); i += 2 {
		r.Metric[labels[i]] = labels[i+1]
	}
	return r
}

func TestItemsHaveTheNamesOfTheFormat(t *testing.T) {
	t.Parallel()
	all := result(1, "node", "n", "device", "d", "namespace", "ns", "app", "a", "pod", "p", "container", "co", "meta", "m", "other", "x")
	for format, want := range map[string]string{
		"${scoreName}": "my_score",
		"${cluster}/${node}/${device}/${namespace}/${app}/${pod}/${container}/${meta}/${scoreName}": "c1/n/d/ns/a/p/co/m/my_score",
		"${node};${namespace};${pod}": "n;ns;p",
		"${other}-x":                  "${other}-x",
		"a\nb":                        "a b",
	} {
		s := &Scorer{ScoreName: "my_score", Name: "my-score", Format: format}
		items, f := s.Items("c1", []Result{all}, Answered{URL: "http://a"})
		if f != nil || len(items) != 1 || items[0].Name != want {
			t.Errorf("%s: got %+v, %v, want %q", format, items, f, want)
		}
	}
	// A label's value that looks like a placeholder is no placeholder.
	s := &Scorer{ScoreName: "s", Format: "${node}"}
	if items, _ := s.Items("c1", []Result{result(1, "node", "${cluster}")}, Answered{}); items[0].Name != "${cluster}" {
		t.Errorf("a label was taken for a placeholder: %q", items[0].Name)
	}
}

func TestItemsAverageAndClamp(t *testing.T) {
	t.Parallel()
	s := &Scorer{ScoreName: "s", Format: "${node}"}
	items, f := s.Items("c1", []Result{
		result(10, "node", "a"), result(20, "node", "a"), {Metric: map[string]string{"node": "a"}, Problem: Failf(NotANumber, "x")},
		result(1e308, "node", "b"), result(-500, "node", "c"), {Metric: map[string]string{"node": "d"}, Problem: Failf(NotANumber, "is null")},
		result(math.MaxFloat64, "node", "e"), result(math.MaxFloat64, "node", "e"), result(12.5, "node", "f"),
	}, Answered{URL: "http://a"})
	if f != nil {
		t.Fatal(f)
	}
	got := map[string]string{}
	for _, i := range items {
		value := "none"
		if i.Value != nil {
			value = fmt.Sprint(*i.Value)
		}
		got[i.Name] = value + " " + i.Reason
	}
	want := map[string]string{
		"a": "15 Computed", "b": "100 Clamped", "c": "-100 Clamped", "d": "none NotANumber", "e": "100 Clamped", "f": "13 Computed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if items[0].Message != "the average of 2 results" || len(items[0].Inputs) != 3 {
		t.Errorf("message %q and inputs %v, want it to say what was averaged", items[0].Message, items[0].Inputs)
	}
}

func TestItemsRefuse(t *testing.T) {
	t.Parallel()
	var many []Result
	for i := range schemas.MaxScoreItems + 1 {
		many = append(many, result(1, "pod", fmt.Sprint(i)))
	}
	s := &Scorer{ScoreName: "s", Format: "${pod}"}
	for name, tt := range map[string]struct {
		results []Result
		reason  string
	}{
		"none": {nil, NoResult}, "no dimension": {[]Result{result(1)}, NoDimension}, "too many": {many, TooManyResults},
	} {
		if items, f := s.Items("c1", tt.results, Answered{}); f == nil || f.Reason != tt.reason {
			t.Errorf("%s: got %d items, %v, want %s", name, len(items), f, tt.reason)
		}
	}
	if items, f := s.Items("c1", many[1:], Answered{}); f != nil || len(items) != schemas.MaxScoreItems {
		t.Errorf("as many as a score has: %d, %v", len(items), f)
	}
}

func TestForKeepsTheClustersOwn(t *testing.T) {
	t.Parallel()
	named := []Result{result(1, "cluster", "c1"), result(2, "cluster", "c2"), result(3)}
	if own, f := For("c1", named); f != nil || len(own) != 2 || own[0].Score != 1 || own[1].Score != 3 {
		t.Errorf("got %v, %v", own, f)
	}
	if _, f := For("c3", named[:2]); f == nil || f.Reason != NoResult {
		t.Errorf("a cluster that is missing: %v, want NoResult", f)
	}
	if own, f := For("c3", []Result{result(3)}); f != nil || len(own) != 1 {
		t.Errorf("without names: %v, %v, want all", own, f)
	}
}
