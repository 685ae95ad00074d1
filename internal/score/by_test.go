package score

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func byPool(cel string, limit int) *schemas.Scorer {
	s := scorer(cel)
	s.Spec.By, s.Spec.Limit = "pool", limit
	return s
}

func show(r Result) []string {
	var out []string
	for _, it := range r.Items {
		value := "-"
		if it.Value != nil {
			value = fmt.Sprint(*it.Value)
		}
		out = append(out, it.Name+" "+value+" "+it.Reason)
	}
	return out
}

func pools() *Cluster {
	return &Cluster{Sources: []*Source{
		source("a", 0, sample("free", 3, "pool", "west"), sample("free", 5, "pool", "east"), sample("free", 7, "pool", ""), sample("price", 2), sample("price", 9, "pool", "gold")),
		source("b", 10*time.Second, sample("free", 1, "pool", "west"), sample("free", 8, "pool", "north")),
		source("c", 2*time.Minute, sample("free", 8, "pool", "south")),
	}}
}

func TestByALabel(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct {
		cel   string
		limit int
		want  []string
	}{
		"each value":         {`sum("free") * 10.0`, 0, []string{"gpu/east 50 Computed", "gpu/north 80 Computed", "gpu/west 40 Computed"}},
		"one fails":          {`metric("free") * 10.0`, 0, []string{"gpu/east 50 Computed", "gpu/north 80 Computed", "gpu/west - Ambiguous"}},
		"of all":             {`sum("free") * metric("price", {"pool": ""})`, 0, []string{"gpu/east 10 Computed", "gpu/north 16 Computed", "gpu/west 8 Computed"}},
		"of one in all":      {`sum("free") + metric("price", {"pool": "gold"})`, 3, []string{"gpu/east 14 Computed", "gpu/north 17 Computed", "gpu/west 13 Computed"}},
		"one too many":       {`sum("free")`, 2, []string{"gpu - TooManyValues"}},
		"no sample":          {`sum("nosuch")`, 0, []string{"gpu - NoSample"}},
		"no label":           {`sum("nosuch", {"zone": "1"})`, 0, []string{"gpu - NoSample"}},
		"a value of either":  {`fresh("free") ? sum("free") : max("price")`, 0, []string{"gpu/east 5 Computed", "gpu/gold 9 Computed", "gpu/north 8 Computed", "gpu/west 4 Computed"}},
		"counted in a group": {`double(count_by("free", "pool").size())`, 0, []string{"gpu/east 1 Computed", "gpu/north 1 Computed", "gpu/west 1 Computed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(byPool(tc.cel, tc.limit))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, show(p.Evaluate(pools(), noon))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestByALabelLookingBack(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(byPool(`rate("n", duration("1m"))`, 0))
	if err != nil {
		t.Fatal(err)
	}
	node := past("node", p.Asks(), map[string][]float64{"n/a": {0, 30, 60, 90}, "n/b": {0, 15, 30, 45}, "n/new": {none, none, none, 1}})
	want := []string{"gpu/a 2 Computed", "gpu/b 1 Computed", "gpu/new - TooLittleHistory"}
	if diff := cmp.Diff(want, show(p.Evaluate(&Cluster{Sources: []*Source{node}}, noon))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestByALabelInTime: a value that goes takes its item with it, and the
// result wakes in time to notice.
func TestByALabelInTime(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(byPool(`sum("free")`, 0))
	if err != nil {
		t.Fatal(err)
	}
	first := p.Evaluate(pools(), noon)
	if want := noon.Add(50 * time.Second); !first.Wake.Equal(want) || !first.ValidUntil.Equal(want) {
		t.Errorf("wakes at %v and holds until %v, want %v", first.Wake, first.ValidUntil, want)
	}
	want := []string{"gpu/east 5 Computed", "gpu/west 3 Computed"}
	if diff := cmp.Diff(want, show(p.Evaluate(pools(), first.Wake))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	prior := p.State(&first)
	next := p.Evaluate(pools(), first.Wake)
	if cause, _ := p.Decide(&prior, &next, first.Wake); cause != Changed {
		t.Errorf("cause = %q, want Changed", cause)
	}
}

func TestCompileRefusesByALabel(t *testing.T) {
	t.Parallel()
	for cel, want := range map[string]string{
		`metric("free_" + label("x"))`:            "computes what it reads",
		`metric("free", {"zone": label("zone")})`: "computes what it reads",
		`has_label("x") ? 1 : 0`:                  `reads no metric by label "pool"`,
		`metric("free", {"pool": "a"})`:           `reads no metric by label "pool"`,
	} {
		p, err := newCompiler(t).Compile(byPool(cel, 0))
		var field *schemas.FieldError
		if !errors.As(err, &field) || field.Field != "spec.cel" || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v, want %q", cel, err, want)
		}
		if diff := cmp.Diff([]string{"gpu - Failed"}, show(p.Evaluate(pools(), noon))); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}
