package score

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func newCompiler(t testing.TB) *Compiler {
	t.Helper()
	c, err := NewCompiler()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func scorer(cel string) *schemas.Scorer {
	return &schemas.Scorer{
		APIVersion: schemas.ScorerAPIVersion, Kind: schemas.ScorerKind,
		Metadata: schemas.Metadata{Name: "gpu"}, Spec: schemas.ScorerSpec{CEL: cel},
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct{ cel, want string }{
		"syntax":                 {`metric("x`, "does not compile: line 1, column"},
		"position":               {"1 +\n nosuch(2)", "line 2, column 8: undeclared reference to 'nosuch'"},
		"unknown variable":       {`gpu_free * 2`, "undeclared reference to 'gpu_free'"},
		"bool":                   {`metric("x") > 1.0`, "true or false, want a number: write EXPRESSION ? 100 : 0"},
		"text":                   {`label("x")`, "is a text, want a number"},
		"list":                   {`values("x")`, "want a number"},
		"name is not a text":     {`metric(1)`, "'metric' applied to '(int)'"},
		"label map of numbers":   {`metric("x", {"a": 1})`, "'metric' applied to"},
		"integer beside metric":  {`metric("x") / 8`, "write numbers beside a metric with a decimal point: 8.0"},
		"branches differ":        {`fresh("x") ? metric("x") : 0`, "decimal point"},
		"max of numbers":         {`max(1, 2)`, "math.greatest"},
		"linear of text":         {`linear("a", 0, 1)`, "'linear' applied to '(string, int, int)'"},
		"too long":               {strings.Repeat("1+", MaxExpression/2) + "11", "at most 4096 are taken"},
		"too deep":               {strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), "does not compile"},
		"blows strings up":       {`size("a".replace("a", "aaaa"))`, "calls replace()"},
		"too large a regex":      {`"a".matches("(a{1000}){1000}") ? 1 : 0`, ""},
		"hidden variable":        {`metric(@cluster, "x")`, "does not compile"},
		"hidden argument's name": {`cluster`, "undeclared reference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(scorer(tc.cel))
			var field *schemas.FieldError
			if !errors.As(err, &field) || field.Field != "spec.cel" || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Compile(%s) = %v, want an error of spec.cel with %q", tc.cel, err, tc.want)
			}
			got := p.Evaluate(&Cluster{}, time.Unix(0, 0)).Items[0]
			if got.Value != nil || got.Reason != schemas.ScoreFailed || got.Message == "" {
				t.Fatalf("the broken item = %+v, want Failed with a message", got)
			}
		})
	}
}

func TestCompileNamesItem(t *testing.T) {
	t.Parallel()
	s := scorer("")
	s.Spec.Items = []schemas.ScorerItem{{Name: "a", CEL: "1"}, {Name: "b", CEL: "1 +"}, {Name: "c", CEL: "2"}, {Name: "d", CEL: "true"}}
	p, err := newCompiler(t).Compile(s)
	if err == nil || !strings.Contains(err.Error(), "spec.items[1].cel does not compile") || !strings.Contains(err.Error(), "spec.items[3].cel is true or false") {
		t.Fatalf("error = %v, want both fields", err)
	}
	r := p.Evaluate(&Cluster{}, time.Unix(0, 0))
	var got []string
	for _, it := range r.Items {
		got = append(got, it.Name+" "+it.Reason)
	}
	if want := []string{"a Computed", "b Failed", "c Computed", "d Failed"}; !slices.Equal(got, want) {
		t.Fatalf("items = %v, want %v", got, want)
	}
}

func TestProgramMetrics(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct {
		cel         string
		wantNames   []string
		wantDynamic bool
	}{
		"literals":      {`metric("b") + sum("a", {"metric": "z"}) + (fresh("c") ? 1.0 : 0.0)`, []string{"a", "b", "c"}, false},
		"none":          {`has_label("x") ? 1 : 0`, nil, false},
		"computed":      {`metric("a_" + label("gpu")) + metric("b")`, []string{"b"}, true},
		"in a loop":     {`["a", "b"].exists(n, fresh(n)) ? 1 : 0`, nil, true},
		"in a literal":  {`values("a").exists(v, v > metric("b")) ? 1 : 0`, []string{"a", "b"}, false},
		"label is none": {`double(label("zone")) + double(claim("rank"))`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(scorer(tc.cel))
			if err != nil {
				t.Fatal(err)
			}
			names, dynamic := p.Metrics()
			if diff := cmp.Diff(tc.wantNames, names); diff != "" || dynamic != tc.wantDynamic {
				t.Fatalf("dynamic = %v, want %v; names:\n%s", dynamic, tc.wantDynamic, diff)
			}
		})
	}
}
