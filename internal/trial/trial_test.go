package trial

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func x(value float64, seconds int) Sample {
	s := Sample{Sample: schemas.Sample{Name: "x", Value: value}}
	if seconds != 0 {
		s.At = noon.Add(time.Duration(seconds) * time.Second)
	}
	return s
}

func TestSnapshots(t *testing.T) {
	t.Parallel()
	page := func(name string, samples ...Sample) Page { return Page{name, samples} }
	for name, tc := range map[string]struct {
		pages   []Page
		want    string // seconds after noon: values
		wantErr string
	}{
		"none":                {nil, "", ""},
		"one":                 {[]Page{page("a", x(1, 0))}, "0:[1]", ""},
		"pages at a distance": {[]Page{page("a", x(1, 0)), page("b"), page("c", x(3, 0))}, "-20:[1] -10:[] 0:[3]", ""},
		"by their times":      {[]Page{page("a", x(2, 30), x(1, -5)), page("b", x(3, 60))}, "-5:[1] 30:[2] 60:[3]", ""},
		"some without a time": {[]Page{page("a", x(2, 30)), page("b", x(1, 0))}, "", "x of a has a time, x of b has none"},
		"twice at a time":     {[]Page{page("a", x(2, 30)), page("b", x(1, 30))}, "", "the samples of 2026-11-30T12:00:30Z: samples[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			snapshots, err := Snapshots(tc.pages, 10*time.Second, noon)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error = %v, want %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range snapshots {
				values := []float64{}
				for _, sample := range s.Samples {
					values = append(values, sample.Value)
				}
				got = append(got, fmt.Sprintf("%v:%v", s.At.Sub(noon).Seconds(), values))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func program(t *testing.T, cel string) *score.Program {
	t.Helper()
	compiler, err := score.NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	p, err := compiler.Compile(&schemas.Scorer{Metadata: schemas.Metadata{Name: "s"}, Spec: schemas.ScorerSpec{CEL: cel}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRun(t *testing.T) {
	t.Parallel()
	var pages []Page
	for i := range window.MaxEvents + 5 {
		pages = append(pages, Page{"p", []Sample{x(float64(i), 0)}})
	}
	snapshots, err := Snapshots(pages, 15*time.Second, noon)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := Run(program(t, `rate("x", duration("1m")) * 100.0`), Cluster{}, snapshots)
	if err != nil || len(outcomes) != len(snapshots) {
		t.Fatalf("%d outcomes, %v", len(outcomes), err)
	}
	first, last := outcomes[0], outcomes[len(outcomes)-1]
	if first.Missing() != 1 || first.Items[0].Reason != schemas.ScoreTooLittleHistory || !first.ValidUntil.IsZero() {
		t.Errorf("at first %+v", first)
	}
	if last.Missing() != 0 || *last.Items[0].Value != 7 || !last.At.Equal(noon) || !last.ValidUntil.Equal(noon.Add(time.Minute)) {
		t.Errorf("at last %+v", last)
	}
	counts, err := Run(program(t, `count_over("x", duration("1h"))`), Cluster{}, snapshots)
	if err != nil || *counts[len(counts)-1].Items[0].Value != window.MaxEvents {
		t.Errorf("counted %+v, %v: want as many as the bus keeps", counts[len(counts)-1], err)
	}
	if _, err := Run(program(t, "1"), Cluster{}, nil); err == nil {
		t.Error("nothing was scored without an error")
	}
}

func TestRunReadsLabelsAndClaims(t *testing.T) {
	t.Parallel()
	labels, err := Pairs([]string{"zone=3", "empty=", "eq=a=b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"zone": "3", "empty": "", "eq": "a=b"}, labels); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	outcomes, err := Run(program(t, `int(label("zone")) + int(claim("nodes"))`), Cluster{Labels: labels, Claims: map[string]string{"nodes": "4"}}, []Snapshot{{At: noon}})
	if err != nil || *outcomes[0].Items[0].Value != 7 {
		t.Errorf("got %+v, %v", outcomes, err)
	}
	for _, bad := range []string{"zone", "=x", ""} {
		if _, err := Pairs([]string{bad}); err == nil || !strings.Contains(err.Error(), "want NAME=VALUE") {
			t.Errorf("Pairs(%q) = %v", bad, err)
		}
	}
}
