package score

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func source(name string, age time.Duration, samples ...schemas.Sample) *Source {
	return &Source{
		Name: name, Subject: "sw.metric.c." + name, Sequence: 7,
		ObservedAt: noon.Add(-age), Samples: series.NewSamples(samples),
	}
}

func sample(name string, value float64, labels ...string) schemas.Sample {
	s := schemas.Sample{Name: name, Value: value, Labels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

// fixture has gpu_free once, queue three times in two sources, load twice but
// once stale, and old stale only.
func fixture() *Cluster {
	return &Cluster{
		Labels: map[string]string{"region": "eu", "rank": "7", "empty": ""},
		Claims: map[string]string{"platform": "aws", "nodes": "12"},
		Sources: []*Source{
			source("a", 10*time.Second, sample("gpu_free", 3), sample("queue", 4, "tier", "x"), sample("queue", 6, "tier", "y", "zone", "1"), sample("zero", 0)),
			source("b", 20*time.Second, sample("queue", 20, "tier", "x"), sample("load", 1)),
			source("c", 2*time.Minute, sample("load", 9), sample("old", 1)),
		},
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct {
		cel         string
		want        string // value or -, and reason
		wantMessage string
	}{
		"metric":                {`metric("gpu_free")`, "3 Computed", ""},
		"metric with labels":    {`metric("queue", {"tier": "y"})`, "6 Computed", ""},
		"metric, two labels":    {`metric("queue", {"zone": "1", "tier": "y"})`, "6 Computed", ""},
		"metric, stale other":   {`metric("load")`, "1 Computed", ""},
		"no sample":             {`metric("nosuch")`, "- NoSample", "no source has a sample of nosuch"},
		"no such label":         {`metric("queue", {"tier": "q"})`, "- NoSample", `queue{tier="q"}`},
		"stale":                 {`metric("old")`, "- NoSample", "the last sample of old is of 2026-11-30T11:58:00Z, which is longer ago than validFor 1m0s"},
		"ambiguous":             {`metric("queue")`, "- Ambiguous", `there are 3: queue{tier="x"} of source a, queue{tier="y",zone="1"} of source a, queue{tier="x"} of source b`},
		"ambiguous by sources":  {`metric("queue", {"tier": "x"})`, "- Ambiguous", "there are 2"},
		"sum":                   {`sum("queue")`, "30 Computed", ""},
		"sum with labels":       {`sum("queue", {"tier": "x"})`, "24 Computed", ""},
		"avg":                   {`avg("queue")`, "10 Computed", ""},
		"min":                   {`min("queue")`, "4 Computed", ""},
		"max":                   {`max("queue")`, "20 Computed", ""},
		"count":                 {`count("queue")`, "3 Computed", ""},
		"count of none":         {`count("nosuch")`, "0 Computed", ""},
		"sum of none":           {`sum("nosuch")`, "- NoSample", "nosuch"},
		"avg of none":           {`avg("nosuch")`, "- NoSample", "nosuch"},
		"min of stale":          {`min("old")`, "- NoSample", "longer ago"},
		"max of none":           {`max("nosuch")`, "- NoSample", "nosuch"},
		"values":                {`values("queue").filter(v, v > 5.0).size()`, "2 Computed", ""},
		"values of none":        {`values("nosuch").size()`, "0 Computed", ""},
		"fresh":                 {`fresh("gpu_free") ? 1 : 0`, "1 Computed", ""},
		"not fresh":             {`fresh("old") ? 1 : 0`, "0 Computed", ""},
		"fresh guards":          {`fresh("nosuch") ? metric("nosuch") : -5.0`, "-5 Computed", ""},
		"label":                 {`label("region") == "eu" ? 10 : 20`, "10 Computed", ""},
		"label as a number":     {`int(label("rank"))`, "7 Computed", ""},
		"empty label":           {`label("empty") == "" ? 1 : 0`, "1 Computed", ""},
		"no label":              {`label("nosuch") == "x" ? 1 : 0`, "- NoLabel", `the cluster has no label "nosuch"`},
		"label default":         {`label("nosuch", "x") == "x" ? 1 : 0`, "1 Computed", ""},
		"claim":                 {`int(claim("nodes"))`, "12 Computed", ""},
		"no claim":              {`int(claim("nosuch"))`, "- NoClaim", `no claim "nosuch"`},
		"claim default":         {`int(claim("nosuch", "4"))`, "4 Computed", ""},
		"has_label":             {`has_label("region") && !has_label("platform") ? 1 : 0`, "1 Computed", ""},
		"has_claim":             {`has_claim("platform") && !has_claim("region") ? 1 : 0`, "1 Computed", ""},
		"linear":                {`linear(metric("gpu_free"), 0, 8)`, "38 Computed", ""},
		"linear downwards":      {`linear(metric("gpu_free"), 4, 0)`, "25 Computed", ""},
		"linear clamps":         {`linear(20, 0, 8) + linear(-1, 0u, 8.0)`, "100 Computed", ""},
		"linear of a point":     {`linear(1, 2, 2)`, "- Failed", "two different bounds, both are 2"},
		"clamp":                 {`clamp(50, 0, 10) + clamp(-3.5, -1, 1)`, "9 Computed", ""},
		"clamp upside down":     {`clamp(1, 5, 2)`, "- Failed", "wants lo <= hi"},
		"math":                  {`math.greatest(metric("gpu_free"), 5.0) + math.least(1.0, 2.0)`, "6 Computed", ""},
		"strings":               {`int("gpu-9".split("-")[1])`, "9 Computed", ""},
		"half up":               {`2.5`, "3 Computed", ""},
		"half down":             {`-2.5`, "-3 Computed", ""},
		"uint":                  {`7u`, "7 Computed", ""},
		"above":                 {`100.6`, "100 Clamped", "100.6 is outside -100..100"},
		"just within":           {`100.4`, "100 Computed", ""},
		"below":                 {`-1000`, "-100 Clamped", "outside"},
		"huge":                  {`1e300`, "100 Clamped", "outside"},
		"divides by zero":       {`metric("gpu_free") / metric("zero")`, "- NotFinite", "does it divide by 0?"},
		"not a number":          {`metric("zero") / metric("zero")`, "- NotFinite", "NaN"},
		"integers by zero":      {`1 / (count("nosuch"))`, "- Failed", "division by zero"},
		"overflow":              {`9223372036854775807 + count("gpu_free")`, "- Failed", "overflow"},
		"not a number in label": {`int(label("region"))`, "- Failed", ""},
		"dynamic text":          {`dyn(label("region"))`, "- Failed", "gave a string, want a number"},
		"too dear":              {`[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, [0,1,2,3,4,5,6,7,8,9].map(c, [0,1,2,3,4,5,6,7,8,9].map(d, [0,1,2,3,4,5,6,7,8,9].map(e, a+b+c+d+e))))).size()`, "- Failed", "cost limit"},
		"or absorbs no sample":  {`metric("nosuch") > 1.0 || true ? 1 : 0`, "1 Computed", ""},
		"mixed comparison":      {`metric("gpu_free") > 2 ? 1 : 0`, "1 Computed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(scorer(tc.cel))
			if err != nil {
				t.Fatal(err)
			}
			it := p.Evaluate(fixture(), noon).Items[0]
			got := "-"
			if it.Value != nil {
				got = fmt.Sprint(*it.Value)
			}
			if got += " " + it.Reason; got != tc.want || !strings.Contains(it.Message, tc.wantMessage) {
				t.Errorf("%s = %s (%s), want %s (%s)", tc.cel, got, it.Message, tc.want, tc.wantMessage)
			}
		})
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(scorer(`metric("gpu_free") + metric("gpu_free") + sum("queue", {"tier": "x"}) + double(label("rank")) + double(claim("nodes"))`))
	if err != nil {
		t.Fatal(err)
	}
	r := p.Evaluate(fixture(), noon)
	var got []string
	for _, in := range r.Score()[0].Inputs {
		got = append(got, fmt.Sprintf("%s %s=%s %s/%d", in.Kind, in.Name, in.Value, in.Subject, in.Sequence))
	}
	want := []string{
		"metric gpu_free=3 sw.metric.c.a/7",
		`metric queue{tier="x"}=4 sw.metric.c.a/7`,
		`metric queue{tier="x"}=20 sw.metric.c.b/7`,
		"label rank=7 /0", "claim nodes=12 /0",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("inputs = %v\nwant %v", got, want)
	}
	if want := noon.Add(40 * time.Second); !r.ValidUntil.Equal(want) || !r.Wake.Equal(want) {
		t.Errorf("validUntil = %v, wake = %v, want %v: the older source is 20 s old", r.ValidUntil, r.Wake, want)
	}
}

func TestInputsAreBounded(t *testing.T) {
	t.Parallel()
	var many []schemas.Sample
	for i := range 1000 {
		many = append(many, sample("q", float64(i), "i", fmt.Sprint(i)))
	}
	p, err := newCompiler(t).Compile(scorer(`sum("q")`))
	if err != nil {
		t.Fatal(err)
	}
	r := p.Evaluate(&Cluster{Sources: []*Source{source("a", 0, many...)}}, noon)
	if n := len(r.Score()[0].Inputs); n != MaxInputs || *r.Items[0].Raw != 499500 {
		t.Errorf("%d inputs, raw %v, want %d and 499500", n, *r.Items[0].Raw, MaxInputs)
	}
}

func TestValidity(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct {
		cel          string
		wantValid    time.Duration // from now; 0 for none
		wantWake     time.Duration // from now; 0 for none
		wantTimeless bool
	}{
		"one sample":           {`metric("gpu_free")`, 50 * time.Second, 50 * time.Second, false},
		"oldest of several":    {`metric("gpu_free") + metric("load")`, 40 * time.Second, 40 * time.Second, false},
		"labels only":          {`has_label("region") ? 1 : 0`, time.Minute, 0, true},
		"count of none":        {`count("nosuch")`, time.Minute, 0, true},
		"no score":             {`metric("nosuch")`, 0, 0, false},
		"ambiguous for a time": {`metric("queue")`, 0, 40 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(scorer(tc.cel))
			if err != nil {
				t.Fatal(err)
			}
			r := p.Evaluate(fixture(), noon)
			at := func(d time.Duration) time.Time {
				if d == 0 {
					return time.Time{}
				}
				return noon.Add(d)
			}
			if !r.ValidUntil.Equal(at(tc.wantValid)) || !r.Wake.Equal(at(tc.wantWake)) || r.Timeless != tc.wantTimeless {
				t.Errorf("result = %+v, want %+v", r, tc)
			}
		})
	}
}
