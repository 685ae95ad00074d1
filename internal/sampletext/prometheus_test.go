package sampletext

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func manyLabels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `l%d="x",`, i)
	}
	return b.String()
}

// TestParsePrometheusIsLinear: a line that no bus would take is refused
// within moments, however long it is, and its error is short.
func TestParsePrometheusIsLinear(t *testing.T) {
	t.Parallel()
	start := time.Now()
	_, err := ParsePrometheus(strings.NewReader("ok 1\na{" + manyLabels(1_000_000) + "} 1\n"))
	if err == nil || !strings.Contains(err.Error(), "line 2: the series is ") {
		t.Errorf("got %.500v, want the line and the series' length", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	_, err = ParsePrometheus(strings.NewReader("a{" + manyLabels(1_000_000) + "} one\n"))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("got %.500v, want a short error", err)
	}
	if _, err = ParsePrometheus(strings.NewReader(strings.Repeat("\n", MaxPage+1))); err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") {
		t.Errorf("got %v, want the page's bound", err)
	}
}

func TestParsePrometheus(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text    string
		want    []string // series and value
		wantErr string
	}{
		"empty": {text: ""},
		"gauge and counter": {
			text: "# TYPE gpu_free gauge\n# HELP gpu_free Free GPUs.\ngpu_free 3 1700000000000\n# TYPE a_total counter\na_total{z=\"1\",b=\"x\\\"\"} 7\n",
			want: []string{`a_total{b="x\"",z="1"} 7`, "gpu_free 3"},
		},
		"untyped":         {text: "up 1\n", want: []string{"up 1"}},
		"no last newline": {text: "up 1", want: []string{"up 1"}},
		"histogram": {
			text: "# TYPE d histogram\nd_bucket{le=\"1\"} 2\nd_bucket{le=\"+Inf\"} 3\nd_sum 4\nd_count 3\n",
			want: []string{`d_bucket{le="+Inf"} 3`, `d_bucket{le="1.0"} 2`, "d_count 3", "d_sum 4"},
		},
		"summary": {
			text: "# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 4\ns_count 3\n",
			want: []string{"s_count 3", "s_sum 4", `s{quantile="0.5"} 2`},
		},
		"not a number": {text: "up 1\nup two\n", wantErr: "line 2"},
		"NaN":          {text: "up 1\nload{cpu=\"3\"} NaN\n", wantErr: `load{cpu="3"} is NaN`},
		"infinity":     {text: "load -Inf\n", wantErr: "load is -Inf"},
		"the line after others": {
			text:    "\n# HELP a What.\n# TYPE a gauge\n \t\n# a comment\na{x=\"1\n2\"} 1\n\nb two\n",
			wantErr: "line 9: ",
		},
		"repeated label":    {text: "ok 1\na{x=\"1\",x=\"2\"} 1\n", wantErr: "line 2: series a repeats label x"},
		"too many labels":   {text: "ok 1\na{" + manyLabels(65) + "} 1\n", wantErr: "line 2: series a has 65 labels, at most 64"},
		"too many":          {text: strings.Repeat("a 1\n", 10_001), wantErr: "line 10001: is one more than the 10000 samples"},
		"64 labels are not": {text: "a{" + manyLabels(64) + "} x\n", wantErr: "strconv.ParseFloat"},
		"NUL":               {text: "ok 1\n\x00b 2\n", wantErr: "line 2: holds a NUL"},
		"not UTF-8":         {text: "a{x=\"\xff\"} 1\n", wantErr: "line 1: invalid UTF-8"},
		"not Prometheus":    {text: "<html>\n", wantErr: "line 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples, err := ParsePrometheus(strings.NewReader(tt.text))
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("got %v, want an error with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range samples {
				got = append(got, fmt.Sprint(s.Series(), " ", s.Value))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
