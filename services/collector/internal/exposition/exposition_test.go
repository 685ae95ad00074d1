package exposition

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		format  Format
		body    string
		want    []string // SERIES VALUE [UNIT]
		left    []sample.Left
		wantErr string
	}{
		"empty": {format: Text},
		"gauge, counter and untyped": {
			format: Text,
			body:   "# HELP g What it is.\n# TYPE g gauge\ng{z=\"1\",a=\"x\\\"y\\n\"} -1.5e3 1700000000000\n# TYPE c_total counter\nc_total 7\nu 3",
			want:   []string{`c_total 7`, `g{a="x\"y\n",z="1"} -1500`, `u 3`},
		},
		"histogram": {
			format: Text,
			body:   "# TYPE d histogram\nd_bucket{le=\"1\"} 2\nd_bucket{le=\"+Inf\"} 3\nd_sum 4\nd_count 3\n",
			want:   []string{`d_bucket{le="+Inf"} 3`, `d_bucket{le="1.0"} 2`, `d_count 3`, `d_sum 4`},
		},
		"summary": {
			format: Text,
			body:   "# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 4\ns_count 3\n",
			want:   []string{`s_count 3`, `s_sum 4`, `s{quantile="0.5"} 2`},
		},
		"a quoted name of the bus": {
			format: Text, body: "{\"gpu.free\",a=\"b\"} 1\n", want: []string{`gpu.free{a="b"} 1`},
		},
		"a quoted name that is none": {
			format: Text, body: "{\"gpu free\"} 1\nok 2\n", want: []string{`ok 2`},
			left: []sample.Left{{Reason: sample.BadName, Count: 1, Example: `the name "gpu free" is not a metric name: byte 3 is ' '`}},
		},
		"not finite": {
			format: Text, body: "a NaN\nb +Inf\nc 1\n", want: []string{`c 1`},
			left: []sample.Left{{Reason: sample.NotFinite, Count: 2, Example: "a is NaN"}},
		},
		"a series twice": {
			format: Text, body: "a{x=\"1\"} 1\na{x=\"1\"} 2\n", want: []string{`a{x="1"} 1`},
			left: []sample.Left{{Reason: sample.Duplicate, Count: 1, Example: `a{x="1"} comes twice, the first is kept`}},
		},
		"bad text in the middle": {format: Text, body: "a 1\n<html>\nb 2\n", wantErr: "after 1 series"},
		"cut in a line":          {format: Text, body: "a 1\nb{x=\"", wantErr: "after 1 series"},
		"NUL":                    {format: Text, body: "a 1\n\x00b 2\n", wantErr: "byte 4 is NUL"},
		"OpenMetrics": {
			format: OpenMetrics,
			body: "# TYPE r counter\nr_total{a=\"b\"} 3 1700000000.5 # {trace_id=\"abc\"} 1 1700000000.1\nr_created{a=\"b\"} 1700000000\n" +
				"# TYPE m_bytes gauge\n# UNIT m_bytes bytes\nm_bytes 5\n# TYPE h histogram\nh_bucket{le=\"1.0\"} 2 # {id=\"x\"} 0.5\nh_bucket{le=\"+Inf\"} 3\nh_sum 4\nh_count 3\n# TYPE i info\ni_info{v=\"1\"} 1\n# EOF\n",
			want: []string{
				`h_bucket{le="+Inf"} 3`, `h_bucket{le="1.0"} 2`, `h_count 3`, `h_sum 4`, `i_info{v="1"} 1`,
				`m_bytes 5 bytes`, `r_created{a="b"} 1.7e+09`, `r_total{a="b"} 3`,
			},
		},
		"OpenMetrics without its end":     {format: OpenMetrics, body: "a 1\n", wantErr: "# EOF"},
		"OpenMetrics goes on after it":    {format: OpenMetrics, body: "a 1\n# EOF\nb 2\n", wantErr: "after 1 series"},
		"OpenMetrics with bad exemplar":   {format: OpenMetrics, body: "# TYPE a counter\na_total 1 # {x} 1\n# EOF\n", wantErr: "after 0 series"},
		"OpenMetrics read as text":        {format: Text, body: "# TYPE a unknown\na 1\n# EOF\n", wantErr: "invalid metric type"},
		"a label value that is not UTF-8": {format: Text, body: "a{x=\"\xff\"} 1\n", wantErr: "UTF-8"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selection := new(sample.Rules).Start()
			err := Read([]byte(tt.body), tt.format, selection)
			if tt.wantErr != "" {
				var syntax *SyntaxError
				if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error is %v, want a *SyntaxError that holds %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			snapshot, err := selection.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, render(snapshot.Samples)); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.left, snapshot.Left); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

func render(samples []schemas.Sample) []string {
	var lines []string
	for _, s := range samples {
		line := fmt.Sprintf("%s %v", s.Series(), s.Value)
		if s.Unit != "" {
			line += " " + s.Unit
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		contentType string
		want        Format
		wantErr     bool
	}{
		"none":              {want: Text},
		"text":              {contentType: "text/plain; version=0.0.4; charset=utf-8", want: Text},
		"plain text":        {contentType: "text/plain", want: Text},
		"OpenMetrics":       {contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8", want: OpenMetrics},
		"OpenMetrics 0.0.1": {contentType: "application/openmetrics-text;version=0.0.1", want: OpenMetrics},
		"OpenMetrics 2":     {contentType: "application/openmetrics-text;version=2.0.0", wantErr: true},
		"HTML":              {contentType: "text/html", wantErr: true},
		"protobuf":          {contentType: "application/vnd.google.protobuf", wantErr: true},
		"rubbish":           {contentType: ";;;", wantErr: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FormatOf(tt.contentType)
			if got != tt.want || (err != nil) != tt.wantErr {
				t.Errorf("FormatOf(%q) = %q, %v", tt.contentType, got, err)
			}
		})
	}
}

// A hostile target must not keep the processor busy: the time to read grows
// with the length, not with its square.
func TestReadIsLinear(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	bodies := map[string]string{
		"one label value":   "a{x=\"" + strings.Repeat("y", size) + "\"} 1\n",
		"escapes":           "a{x=\"" + strings.Repeat(`\\`, size/2) + "\"} 1\n",
		"many labels":       "a{" + strings.Repeat("x=\"y\",", size/6) + "} 1\n",
		"one number":        "a " + strings.Repeat("1", size) + "\n",
		"braces":            strings.Repeat("{", size),
		"comments":          strings.Repeat("#\n", size/2),
		"one comment":       "# HELP a " + strings.Repeat("x", size) + "\n",
		"unterminated":      "a{x=\"" + strings.Repeat("y", size),
		"nothing but lines": strings.Repeat("\n", size),
	}
	for name, body := range bodies {
		for _, format := range []Format{Text, OpenMetrics} {
			t.Run(name+" "+string(format), func(t *testing.T) {
				t.Parallel()
				start := time.Now()
				err := Read([]byte(body), format, new(sample.Rules).Start())
				if took := time.Since(start); took > 20*time.Second {
					t.Errorf("reading %d bytes took %v", len(body), took)
				}
				if err != nil && len(err.Error()) > 2*maxErrorText {
					t.Errorf("the error has %d bytes", len(err.Error()))
				}
			})
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/*.prom", "testdata/*.om"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("no seed in %s: %v", pattern, err)
		}
		for _, path := range paths {
			seed, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(seed, strings.HasSuffix(path, ".om"))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, open bool) {
		format := Text
		if open {
			format = OpenMetrics
		}
		first, second := new(sample.Rules).Start(), new(sample.Rules).Start()
		before := bytes.Clone(body)
		err := Read(body, format, first)
		if !bytes.Equal(before, body) {
			t.Fatal("Read changed the body")
		}
		if err != nil {
			return
		}
		got, err := first.Snapshot()
		if err != nil {
			return
		}
		// What is selected is what the bus takes, and always the same.
		if err := (&schemas.Metrics{Samples: got.Samples}).Validate(); err != nil {
			t.Fatalf("the bus refuses what was selected: %v", err)
		}
		if err := Read(body, format, second); err != nil {
			t.Fatal(err)
		}
		again, _ := second.Snapshot()
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("two readings differ:\n%s", diff)
		}
	})
}

// thousand is an exposition of 1,000 series, as a node shows them.
func thousand() []byte {
	var b bytes.Buffer
	for family := range 100 {
		fmt.Fprintf(&b, "# HELP family_%d What it says.\n# TYPE family_%d gauge\n", family, family)
		for pod := range 10 {
			fmt.Fprintf(&b, "family_%d{namespace=\"default\",pod=\"pod-%d\",node=\"node-1\"} %d.5\n", family, pod, pod)
		}
	}
	return b.Bytes()
}

func BenchmarkReadAndSelect1000(b *testing.B) {
	body := thousand()
	keep, err := sample.Compile("family_.*")
	if err != nil {
		b.Fatal(err)
	}
	for name, format := range map[string]Format{"text": Text, "openmetrics": OpenMetrics} {
		text := body
		if format == OpenMetrics {
			text = append(bytes.Clone(body), "# EOF\n"...)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			rules := sample.Rules{Keep: []*regexp.Regexp{keep}}
			for b.Loop() {
				selection := rules.Start()
				if err := Read(text, format, selection); err != nil {
					b.Fatal(err)
				}
				snapshot, err := selection.Snapshot()
				if err != nil || len(snapshot.Samples) != 1000 {
					b.Fatalf("%d samples, %v", len(snapshot.Samples), err)
				}
			}
		})
	}
}
