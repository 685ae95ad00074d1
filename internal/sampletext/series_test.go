package sampletext

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestParseSeries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want schemas.Sample
		// wantReason and wantOffset are of the *SyntaxError.
		wantReason string
		wantOffset int
	}{
		"name and value":       {text: "gpu_free=3", want: schemas.Sample{Name: "gpu_free", Value: 3}},
		"dotted name":          {text: "gpu.free=-1.5e3", want: schemas.Sample{Name: "gpu.free", Value: -1500}},
		"no labels in braces":  {text: "a{}=1", want: schemas.Sample{Name: "a", Value: 1, Labels: map[string]string{}}},
		"one label":            {text: `q{tier="a"}=7`, want: schemas.Sample{Name: "q", Value: 7, Labels: map[string]string{"tier": "a"}}},
		"labels and spaces":    {text: `q{ tier = "a" , b="=}," , }=7`, want: schemas.Sample{Name: "q", Value: 7, Labels: map[string]string{"tier": "a", "b": "=},"}}},
		"escapes":              {text: `q{a="x\"y\\z\n"}=7`, want: schemas.Sample{Name: "q", Value: 7, Labels: map[string]string{"a": "x\"y\\z\n"}}},
		"empty":                {text: "", wantReason: "is empty"},
		"no name":              {text: "=3", wantReason: "is empty"},
		"bad name":             {text: "gpu-free=3", wantReason: "is not a metric name"},
		"newline in the name":  {text: "a\nb=3", wantReason: "is not a metric name"},
		"no value":             {text: "gpu_free", wantReason: "want =VALUE", wantOffset: 8},
		"empty value":          {text: "gpu_free=", wantReason: "is not a number", wantOffset: 9},
		"word for a value":     {text: "gpu_free=three", wantReason: `"three" is not a number`, wantOffset: 9},
		"something after it":   {text: "gpu_free=3 4", wantReason: "is not a number", wantOffset: 9},
		"NaN":                  {text: "gpu_free=NaN", wantReason: "is not a finite number", wantOffset: 9},
		"infinity":             {text: "gpu_free=+Inf", wantReason: "is not a finite number", wantOffset: 9},
		"unquoted label":       {text: "q{tier=a}=7", wantReason: "in double quotes", wantOffset: 7},
		"label without value":  {text: "q{tier}=7", wantReason: "want = after label tier", wantOffset: 6},
		"bad label name":       {text: `q{1a="b"}=7`, wantReason: "want a label name", wantOffset: 2},
		"repeated label":       {text: `q{a="b",a="c"}=7`, wantReason: "label a is repeated", wantOffset: 8},
		"no comma":             {text: `q{a="b" c="d"}=7`, wantReason: "want , or }", wantOffset: 8},
		"no closing brace":     {text: `q{a="b"`, wantReason: "want , or }", wantOffset: 7},
		"no closing quote":     {text: `q{a="b}=7`, wantReason: "no closing quote", wantOffset: 9},
		"unknown escape":       {text: `q{a="\t"}=7`, wantReason: "after the backslash", wantOffset: 6},
		"nothing after braces": {text: `q{a="b"}`, wantReason: "want =VALUE", wantOffset: 8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseSeries(tt.text)
			if tt.wantReason == "" {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				return
			}
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, %v, want a *SyntaxError", got, err)
			}
			if !strings.Contains(syntax.Reason, tt.wantReason) || syntax.Offset != tt.wantOffset {
				t.Errorf("got %q at %d, want %q at %d", syntax.Reason, syntax.Offset, tt.wantReason, tt.wantOffset)
			}
		})
	}
}

// FuzzParseSeries: what is read can be written and read again, and is valid
// unless it is only too long.
func FuzzParseSeries(f *testing.F) {
	for _, seed := range []string{"gpu_free=3", `queue{tier="a"}=7`, `q{a="x\"y\\z\n",b=""}=-1e-9`, "a{}=0x1p-2", "a{=1", "=", `a{b="`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSeries(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(text) {
				t.Fatalf("%q: got %v, want a *SyntaxError within the text", text, err)
			}
			return
		}
		again, err := ParseSeries(write(s))
		if err != nil {
			t.Fatalf("%q was read as %q, which is refused: %v", text, write(s), err)
		}
		if again.Name != s.Name || again.Value != s.Value || !maps.Equal(again.Labels, s.Labels) {
			t.Fatalf("%q: read %v, then %v", text, s, again)
		}
	})
}

func write(s schemas.Sample) string {
	var b strings.Builder
	b.WriteString(s.Name + "{")
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		b.WriteString(name + `="` + quote.Replace(s.Labels[name]) + `",`)
	}
	b.WriteString("}=" + strconv.FormatFloat(s.Value, 'g', -1, 64))
	return b.String()
}
