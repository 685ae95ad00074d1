package score

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var propertyExpressions = []string{
	`metric("m0")`, `metric("m0", {"l": "1"}) + metric("m1")`, `sum("m0") / avg("m1")`,
	`max("m2") - min("m2")`, `count("m0") * 10`, `fresh("m1") ? metric("m1") : -1.0`,
	`values("m0").exists(v, v > 2.0) ? 1 : 0`, `linear(sum("m1"), 10, 0)`, `double(label("l", "4"))`,
}

func randomCluster(r *rand.Rand) *Cluster {
	c := &Cluster{Labels: map[string]string{"l": "3"}}
	for _, name := range []string{"a", "b", "c"}[:r.IntN(4)] {
		var samples []schemas.Sample
		for _, metric := range []string{"m0", "m1", "m2"} {
			for _, label := range []string{"1", "2"}[:r.IntN(3)] {
				samples = append(samples, sample(metric, float64(r.IntN(5)), "l", label))
			}
		}
		c.Sources = append(c.Sources, source(name, time.Duration(r.IntN(90))*time.Second, samples...))
	}
	return c
}

// TestEvaluateProperties: the same inputs give the same result, whatever the
// order of the samples in their event; nothing changes before Wake; and a
// result never outlives the samples that it rests on.
func TestEvaluateProperties(t *testing.T) {
	t.Parallel()
	compiler := newCompiler(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		c := randomCluster(r)
		for _, cel := range propertyExpressions {
			p, err := compiler.Compile(scorer(cel))
			if err != nil {
				t.Fatal(err)
			}
			first := p.Evaluate(c, noon)
			second := p.Evaluate(c, noon)
			if diff := cmp.Diff(first.Score(), second.Score()); diff != "" {
				t.Fatalf("%s is not deterministic:\n%s", cel, diff)
			}
			checkStaleness(t, p, c, &first)
		}
	}
}

func checkStaleness(t *testing.T, p *Program, c *Cluster, first *Result) {
	t.Helper()
	if !first.Wake.IsZero() && !first.Wake.After(noon) {
		t.Fatalf("wake %v is not after now", first.Wake)
	}
	until := first.Wake
	if until.IsZero() {
		until = noon.Add(time.Hour)
	}
	before := p.Evaluate(c, until.Add(-time.Nanosecond))
	if diff := cmp.Diff(first.Score(), before.Score()); diff != "" {
		t.Fatalf("the score changed before its wake:\n%s", diff)
	}
	// Once every sample is stale, no item rests on one.
	last := p.Evaluate(c, noon.Add(p.ValidFor()))
	for _, it := range last.Score() {
		for _, in := range it.Inputs {
			if in.Kind == "metric" {
				t.Fatalf("a stale sample was read: %+v", in)
			}
		}
	}
}

func FuzzCompileEvaluate(f *testing.F) {
	for _, cel := range propertyExpressions {
		f.Add(cel, "m0", 1.5)
		f.Add(cel, "by m0", 1.5)
	}
	f.Add(`rate("m0", duration("30s")) + percentile_over("m0", 95, duration("1m"))`, "m0", 2.0)
	f.Add(`ewma("m0", {"l": "1"}, duration("1ns"), duration("1h")) / double(count_over("m0", duration("1m")))`, "by m0", 1e308)
	f.Add(`step(sum_by("m0", "l")[0], [1, 2.5], values("m0"))`, "m0", 0.0)
	f.Add(`"a".matches("(a*)*b") ? 1 : 0`, "x", 0.0)
	f.Add(`metric(string(values("m0")[0]), {label("l"): claim("c")})`, "m", -1e308)
	f.Add(`[1][1]`, "m", 0.0)
	f.Add(`{"a": 1}.b`, "m", 0.0)
	f.Add(`timestamp(claim("x")).getSeconds()`, "m", 0.0)
	compiler, err := NewCompiler()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, cel, name string, value float64) {
		s := scorer(cel)
		if name, by := strings.CutPrefix(name, "by "); by {
			s.Spec.By, s.Spec.Limit = "l", len(name)
		}
		if s.Validate() != nil {
			return
		}
		p, _ := compiler.Compile(s)
		m := schemas.Metrics{Samples: []schemas.Sample{sample(name, value, "l", "1"), sample("m0", value)}}
		if m.Validate() != nil {
			m.Samples = nil
		}
		a := source("a", 0, m.Samples...)
		a.Past = window.New(window.Select(p.Asks()), time.Time{})
		for i := range 4 {
			a.Past.Append(window.Event{Sequence: uint64(i), ObservedAt: noon.Add(time.Duration(i-3) * 15 * time.Second), Samples: a.Samples})
		}
		r := p.Evaluate(&Cluster{Sources: []*Source{a}}, noon)
		event := schemas.Score{Cluster: "c", Scorer: "gpu", Items: r.Score()}
		if !r.ValidUntil.IsZero() {
			event.ValidUntil = &r.ValidUntil
		}
		if err := event.Validate(); err != nil {
			t.Fatalf("%q: %v", cel, err)
		}
	})
}
