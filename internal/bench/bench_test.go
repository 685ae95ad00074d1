package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSummarise(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		samples []float64
		want    Summary
	}{
		"one":      {[]float64{4}, Summary{1, 4, 4, 4, 4}},
		"odd":      {[]float64{3, 1, 2}, Summary{3, 1, 2, 2.8, 3}},
		"even":     {[]float64{1, 2, 3, 4}, Summary{4, 1, 2.5, 3.7, 4}},
		"eleven":   {[]float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, Summary{11, 0, 50, 90, 100}},
		"negative": {[]float64{-2, -4}, Summary{2, -4, -3, -2.2, -2}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Summarise(tt.samples)
			near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
			if diff := cmp.Diff(tt.want, got, near); diff != "" {
				t.Error(diff)
			}
		})
	}
	if s := Summarise(nil); s.N != 0 || !math.IsNaN(s.P50) {
		t.Errorf("Summarise(nil) = %+v, want no samples and NaN", s)
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	got := Ratios([][]float64{{10, 20, 30}, {8}, nil, {1}}, [][]float64{{5}, {2, 2}, {1}})
	if want := []float64{4, 4}; !slices.Equal(got, want) {
		t.Errorf("Ratios() = %v, want %v", got, want)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target *Target
		want   string
	}{
		"none":         {nil, ""},
		"at most":      {AtMost(20), "met"},
		"above":        {AtMost(15.5), "missed by 4.5"},
		"at least":     {AtLeast(20), "met"},
		"below":        {AtLeast(120), "missed by 100"},
		"just reached": {AtMost(20), "met"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Measure{Samples: []float64{10, 20, 30}, Target: tt.target}
			if got := m.Verdict(); got != tt.want {
				t.Errorf("Verdict() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{"1234568": 1234567.8, "100": 99.96, "12.3": 12.34, "12": 12, "1.5": 1.5, "0.0123": 0.01234, "0": 0, "-": math.NaN()} {
		if got := format(v); got != want {
			t.Errorf("format(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestResultsAreReadAsTheyWereSaved(t *testing.T) {
	t.Parallel()
	r := Result{Title: "t <1>", Subject: "s", Command: "c", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Machine: Machine{Cores: 2, Memory: 1, Kernel: "k", Go: "g"}}
	r.Add("none", Milliseconds, nil)
	r.Add("a", Milliseconds, AtMost(1), 0.5, 2)
	r.AddDurations("b", nil, []time.Duration{1500 * time.Microsecond})
	text, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
}

// What is no result is refused, by the name of a field.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	const sound = `{"title": "t", "subject": "s", "command": "c", "date": "2026-01-02T03:04:05Z",
		"machine": {"cores": 2, "memoryBytes": 1, "kernel": "k", "go": "g", "load": 0},
		"measures": [{"name": "a", "unit": "ms", "samples": [1], "target": {"atMost": 1}}],
		"comparison": {"title": "t", "row": "r", "columns": [{"title": "t", "measure": "a"}]}}`
	if _, err := Decode([]byte(sound)); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string][2]string{
		`unknown field "titel"`:                          {`"title": "t", "subject"`, `"titel": "t", "subject"`},
		"title is missing":                               {`"title": "t", "subject"`, `"subject"`},
		"subject is missing":                             {`"subject": "s", `, ``},
		"command is missing":                             {`"c"`, `""`},
		"date is missing":                                {`"date": "2026-01-02T03:04:05Z",`, ``},
		"machine.cores is missing":                       {`"cores": 2`, `"cores": 0`},
		"machine.memoryBytes is missing":                 {`"memoryBytes": 1, `, ``},
		"machine.kernel is missing":                      {`"k"`, `""`},
		"machine.go is missing":                          {`"go": "g", `, ``},
		"measures is missing":                            {`{"name": "a", "unit": "ms", "samples": [1], "target": {"atMost": 1}}`, ``},
		"measures[0].name is missing":                    {`"name": "a", `, ``},
		"measures[0].samples is missing":                 {`"samples": [1], `, ``},
		"measures[0].target must have either":            {`"atMost": 1`, ``},
		"comparison.title is missing":                    {`"title": "t", "row"`, `"row"`},
		"comparison.row is missing":                      {`"row": "r", `, ``},
		"comparison.columns is missing":                  {`{"title": "t", "measure": "a"}`, ``},
		"comparison.columns[0] must have a title and a ": {`, "measure": "a"`, ``},
		"something follows it in the file":               {sound, sound + "x"},
	} {
		text := strings.Replace(sound, change[0], change[1], 1)
		if _, err := Decode([]byte(text)); text == sound || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Decode([]byte("{}")); err == nil {
		t.Error("an empty object was taken")
	}
}

// TestTheDocumentIsThatOfTheResults fails where docs/benchmarks.md was edited,
// or results were saved without rendering it.
func TestTheDocumentIsThatOfTheResults(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	results, err := ReadDir(os.DirFS(filepath.Join(root, "bench", "results")))
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(root, "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Render(results), string(committed)); diff != "" {
		t.Errorf("docs/benchmarks.md is not what its results say: run 'make bench-report'\n%s", diff)
	}
}
