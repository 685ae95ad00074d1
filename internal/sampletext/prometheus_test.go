package sampletext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
			want: []string{`d_bucket{le="+Inf"} 3`, `d_bucket{le="1"} 2`, "d_count 3", "d_sum 4"},
		},
		"summary": {
			text: "# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 4\ns_count 3\n",
			want: []string{"s_count 3", "s_sum 4", `s{quantile="0.5"} 2`},
		},
		"not a number":   {text: "up 1\nup two\n", wantErr: "line 2"},
		"NaN":            {text: "up 1\nload{cpu=\"3\"} NaN\n", wantErr: `load{cpu="3"} is NaN`},
		"infinity":       {text: "load -Inf\n", wantErr: "load is -Inf"},
		"not Prometheus": {text: "<html>\n", wantErr: "line 1"},
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
