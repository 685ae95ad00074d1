package sampletext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestParseTimed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text    string
		want    []string
		wantErr string
	}{
		"empty":           {text: ""},
		"Prometheus":      {text: "a 1 1000\nb{x=\"y\"} 2 1500\na 3 500\n", want: []string{"a 1 00:00:01", `b{x="y"} 2 00:00:01.5`, "a 3 00:00:00.5"}},
		"no times":        {text: "a 1\nb 2", want: []string{"a 1 -", "b 2 -"}},
		"OpenMetrics":     {text: "# TYPE a counter\na_total 1 1.5\na_total 2 2\n# EOF\n", want: []string{"a_total 1 00:00:01.5", "a_total 2 00:00:02"}},
		"no OpenMetrics":  {text: "a 1 1.5\n", wantErr: "line 1"},
		"bad line":        {text: "a 1\nb x\n", wantErr: "line 2"},
		"bad OpenMetrics": {text: "a 1\nb x\n# EOF", wantErr: "line 2"},
		"not finite":      {text: "a NaN 1000\n", wantErr: "a is NaN"},
		"NUL":             {text: "a\x00", wantErr: "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples, err := ParseTimed(strings.NewReader(tc.text))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got %v, want an error with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range samples {
				at := "-"
				if !s.At.IsZero() {
					at = s.At.Format("15:04:05.999")
				}
				got = append(got, fmt.Sprint(s.Series(), " ", s.Value, " ", at))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestParseTimedTakesMoreThanAnEvent: a page of many times.
func TestParseTimedTakesMoreThanAnEvent(t *testing.T) {
	t.Parallel()
	samples, err := ParseTimed(strings.NewReader(strings.Repeat("a 1 1000\n", schemas.MaxSamples+1)))
	if err != nil || len(samples) != schemas.MaxSamples+1 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
}

// FuzzParseTimed: whatever a page holds, it is read the same twice, each
// sample can be judged, and an error is short.
func FuzzParseTimed(f *testing.F) {
	for _, text := range []string{"", "a 1 1000\nb{x=\"y\"} 2 1500\n", "# TYPE a counter\na_total 1 1.5\n# EOF\n", "a 1 9223372036854775807\n", "# EOF", "a{x=\"1\n2\"} 1\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		samples, err := ParseTimed(strings.NewReader(text))
		if err != nil {
			if len(err.Error()) > 2*maxErrorText {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
			return
		}
		for _, s := range samples {
			m := schemas.Metrics{Samples: []schemas.Sample{s.Sample}}
			_ = m.Validate() // must not panic; names that Prometheus takes and we do not are refused here
			if _, err := s.At.MarshalJSON(); err != nil && s.At.Year() >= 0 && s.At.Year() < 10000 {
				t.Error(err)
			}
		}
		if again, err := ParseTimed(strings.NewReader(text)); err != nil || len(again) != len(samples) {
			t.Errorf("read again: %d samples of %d, %v", len(again), len(samples), err)
		}
	})
}
