package sample

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

type series struct {
	name   string
	labels map[string]string
	value  float64
}

func mustCompile(t *testing.T, expressions ...string) []*regexp.Regexp {
	t.Helper()
	var compiled []*regexp.Regexp
	for _, e := range expressions {
		c, err := Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		compiled = append(compiled, c)
	}
	return compiled
}

func add(s *Selection, in ...series) {
	for _, x := range in {
		if s.Wants([]byte(x.name)) {
			s.Add(Labels{Len: len(x.labels), All: maps.All(x.labels)}, x.value, "")
		}
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", schemas.MaxLabelLength+1)
	many := map[string]string{}
	for i := range schemas.MaxLabels + 1 {
		many[fmt.Sprint("l", i)] = ""
	}
	tests := map[string]struct {
		rules    Rules
		in       []series
		want     []string
		wantLeft map[Reason]int
		wantErr  bool
	}{
		"nothing": {},
		"sorted by series": {
			in:   []series{{"b", nil, 1}, {"a", map[string]string{"x": "2"}, 2}, {"a", map[string]string{"x": "1"}, 3}},
			want: []string{`a{x="1"}=3`, `a{x="2"}=2`, `b=1`},
		},
		"keep is anchored": {
			rules:    Rules{Keep: mustCompile(t, "gpu", "node_.*")},
			in:       []series{{"gpu", nil, 1}, {"gpu_free", nil, 1}, {"node_load1", nil, 1}, {"a_node_", nil, 1}},
			want:     []string{"gpu=1", "node_load1=1"},
			wantLeft: map[Reason]int{NotKept: 2},
		},
		"an alternative is anchored as a whole": {
			rules:    Rules{Keep: mustCompile(t, "a|b")},
			in:       []series{{"a", nil, 1}, {"ab", nil, 1}, {"b", nil, 1}},
			want:     []string{"a=1", "b=1"},
			wantLeft: map[Reason]int{NotKept: 1},
		},
		"drop wins over keep": {
			rules:    Rules{Keep: mustCompile(t, "go_.*"), Drop: mustCompile(t, ".*_bucket")},
			in:       []series{{"go_x", nil, 1}, {"go_y_bucket", nil, 1}},
			want:     []string{"go_x=1"},
			wantLeft: map[Reason]int{Dropped: 1},
		},
		"the first rename that matches": {
			rules: Rules{Rename: []Rename{
				{From: mustCompile(t, "DCGM_FI_(.*)")[0], To: "gpu_$1"},
				{From: mustCompile(t, "DCGM_.*")[0], To: "other"},
			}},
			in:   []series{{"DCGM_FI_FREE", nil, 1}, {"DCGM_X", nil, 2}, {"y", nil, 3}},
			want: []string{"gpu_FREE=1", "other=2", "y=3"},
		},
		"keep sees the name before it is renamed": {
			rules:    Rules{Keep: mustCompile(t, "new"), Rename: []Rename{{From: mustCompile(t, "old")[0], To: "new"}}},
			in:       []series{{"old", nil, 1}},
			wantLeft: map[Reason]int{NotKept: 1},
		},
		"a rename to no name": {
			rules:    Rules{Rename: []Rename{{From: mustCompile(t, "a(.*)")[0], To: "$1"}}},
			in:       []series{{"a", nil, 1}, {"a1", nil, 1}, {"ab", nil, 1}},
			want:     []string{"b=1"},
			wantLeft: map[Reason]int{BadName: 2},
		},
		"renamed into another": {
			rules:    Rules{Rename: []Rename{{From: mustCompile(t, "a.*")[0], To: "a"}}},
			in:       []series{{"a1", nil, 1}, {"a2", nil, 2}},
			want:     []string{"a=1"},
			wantLeft: map[Reason]int{Duplicate: 1},
		},
		"a name with a newline": {
			in:       []series{{"a\nb", nil, 1}, {"c", nil, 1}},
			want:     []string{"c=1"},
			wantLeft: map[Reason]int{BadName: 1},
		},
		"not finite": {
			in:       []series{{"a", nil, math.NaN()}, {"b", nil, math.Inf(1)}, {"c", nil, math.Inf(-1)}, {"d", nil, math.MaxFloat64}},
			want:     []string{"d=1.7976931348623157e+308"},
			wantLeft: map[Reason]int{NotFinite: 3},
		},
		"labels kept": {
			rules: Rules{KeepLabels: []string{"a"}},
			in:    []series{{"x", map[string]string{"a": "1", "b": "2"}, 1}},
			want:  []string{`x{a="1"}=1`},
		},
		"labels dropped": {
			rules: Rules{DropLabels: []string{"a"}},
			in:    []series{{"x", map[string]string{"a": "1", "b": "2"}, 1}, {"x", map[string]string{"a": "2", "b": "2"}, 2}},
			want:  []string{`x{b="2"}=1`}, wantLeft: map[Reason]int{Duplicate: 1},
		},
		"a label that the bus refuses": {
			in:       []series{{"x", map[string]string{"a": long}, 1}, {"y", map[string]string{"a\n": ""}, 1}, {"z", nil, 1}},
			want:     []string{"z=1"},
			wantLeft: map[Reason]int{BadLabel: 2},
		},
		"... is no harm if it is dropped": {
			rules: Rules{DropLabels: []string{"a"}},
			in:    []series{{"x", map[string]string{"a": long}, 1}},
			want:  []string{"x=1"},
		},
		"too many labels": {
			in: []series{{"x", many, 1}, {"y", nil, 1}}, want: []string{"y=1"}, wantLeft: map[Reason]int{TooManyLabels: 1},
		},
		"too many labels by the rules": {
			rules: Rules{MaxLabels: 1},
			in:    []series{{"x", map[string]string{"a": "", "b": ""}, 1}, {"y", map[string]string{"a": ""}, 1}},
			want:  []string{`y{a=""}=1`}, wantLeft: map[Reason]int{TooManyLabels: 1},
		},
		"too many samples": {
			rules: Rules{MaxSamples: 2}, in: []series{{"a", nil, 1}, {"b", nil, 1}, {"c", nil, 1}}, wantErr: true,
		},
		"just as many": {
			rules: Rules{MaxSamples: 2}, in: []series{{"a", nil, 1}, {"b", nil, 1}, {"b", nil, 1}},
			want: []string{"a=1", "b=1"}, wantLeft: map[Reason]int{Duplicate: 1},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selection := tt.rules.Start()
			add(selection, tt.in...)
			snapshot, err := selection.Snapshot()
			var tooMany *TooManyError
			if errors.As(err, &tooMany) != tt.wantErr {
				t.Fatalf("error is %v", err)
			}
			var got []string
			for _, s := range snapshot.Samples {
				got = append(got, fmt.Sprintf("%s=%v", s.Series(), s.Value))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("samples (-want +got):\n%s", diff)
			}
			var left map[Reason]int
			for _, l := range snapshot.Left {
				if left == nil {
					left = map[Reason]int{}
				}
				left[l.Reason] = l.Count
				if (l.Example == "") != l.Reason.ByRule() {
					t.Errorf("example of %s is %q", l.Reason, l.Example)
				}
			}
			if diff := cmp.Diff(tt.wantLeft, left); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
			if err == nil {
				if err := (&schemas.Metrics{Samples: snapshot.Samples}).Validate(); err != nil {
					t.Errorf("the bus refuses the snapshot: %v", err)
				}
			}
		})
	}
}
