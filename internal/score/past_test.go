package score

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/internal/window"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// past is a source whose n-th event, 15 s after the one before it, has the
// n-th value of each series, and whose last event is current at noon. A NaN
// stands for a series that is missing.
func past(name string, asks []window.Ask, values map[string][]float64) *Source {
	n := 0
	for _, v := range values {
		n = max(n, len(v))
	}
	w := window.New(window.Select(asks), time.Unix(0, 0))
	s := &Source{Name: name, Subject: "sw.metric.c." + name, Past: w}
	for i := range n {
		var samples []schemas.Sample
		for series, v := range values {
			metric, pool, _ := strings.Cut(series, "/")
			if i < len(v) && v[i] == v[i] {
				x := sample(metric, v[i])
				if pool != "" {
					x = sample(metric, v[i], "pool", pool)
				}
				samples = append(samples, x)
			}
		}
		s.Sequence, s.ObservedAt = uint64(i+1), noon.Add(time.Duration(i-n+1)*15*time.Second)
		s.Samples = series.NewSamples(samples)
		w.Append(window.Event{Sequence: s.Sequence, ObservedAt: s.ObservedAt, Samples: s.Samples})
	}
	return s
}

var none = func() float64 { var zero float64; return zero / zero }()

func TestLookingBack(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct {
		cel         string
		want        string
		wantMessage string
	}{
		"rate":                      {`rate("up_total", duration("1m"))`, "2 Computed", ""},
		"rate over a reset":         {`rate("reset_total", duration("1m"))`, "2 Computed", ""},
		"rates are added up":        {`rate("many_total", duration("1m"))`, "3 Computed", ""},
		"one of them":               {`rate("many_total", {"pool": "a"}, duration("1m"))`, "2 Computed", ""},
		"a new one counts its own":  {`rate("new_total", duration("1m")) * 45.0`, "60 Computed", ""},
		"only a new one":            {`rate("new_total", {"pool": "b"}, duration("1m"))`, "- TooLittleHistory", `new_total{pool="b"} hold 2 values over 15s, want 2 over 30s`},
		"rate of none":              {`rate("nosuch", duration("1m"))`, "- NoSample", "no source has a sample of nosuch"},
		"avg":                       {`avg_over("x", duration("1m"))`, "5 Computed", ""},
		"a shorter window":          {`avg_over("x", duration("30s"))`, "7 Computed", ""},
		"min":                       {`min_over("x", duration("1m"))`, "2 Computed", ""},
		"max":                       {`max_over("x", duration("1m"))`, "8 Computed", ""},
		"sum":                       {`sum_over("x", duration("1m"))`, "20 Computed", ""},
		"count":                     {`count_over("x", duration("1m"))`, "4 Computed", ""},
		"count of all":              {`count_over("many_total", duration("1m"))`, "8 Computed", ""},
		"count of none":             {`count_over("nosuch", duration("1m"))`, "0 Computed", ""},
		"count of few":              {`count_over("gap", duration("1m"))`, "3 Computed", ""},
		"percentile":                {`percentile_over("x", 50, duration("1m"))`, "5 Computed", ""},
		"percentile between":        {`percentile_over("x", 90.0, duration("1m")) * 10.0`, "74 Computed", ""},
		"least":                     {`percentile_over("x", 0, duration("1m"))`, "2 Computed", ""},
		"most":                      {`percentile_over("x", 100, duration("1m"))`, "8 Computed", ""},
		"percentile that is none":   {`percentile_over("x", metric("x") * 20.0, duration("1m"))`, "- Failed", "from 0 to 100, it is 160"},
		"ewma":                      {`ewma("x", duration("15s"), duration("1m")) * 4.0`, "25 Computed", ""},
		"ewma of a jump":            {`ewma("jump", duration("30s"), duration("1m"))`, "29 Computed", ""},
		"ewma, no half-life":        {`ewma("x", duration(label("zero")), duration("1m"))`, "- Failed", "half-life of more than 0"},
		"several":                   {`avg_over("many_total", duration("1m"))`, "- Ambiguous", `avg_over("many_total") wants one sample, there are 2`},
		"a window that is not held": {`avg_over("x", duration("3m"))`, "- TooLittleHistory", "the last 3m0s of x hold 5 values over 1m0s, want 2 over 1m30s"},
		"one value":                 {`avg_over("once", duration("1m"))`, "- TooLittleHistory", "hold 1 value over 0s"},
		"stale":                     {`avg_over("old", duration("1m"))`, "- NoSample", "longer ago than validFor"},
		"not known here":            {`avg_over("bare", duration("1m"))`, "- NoHistory", "source bare"},
		"together with now":         {`metric("x") / avg_over("x", duration("1m")) * 10.0`, "16 Computed", ""},
		"a guard":                   {`count_over("once", duration("1m")) < 2 ? 0.0 : avg_over("once", duration("1m"))`, "0 Computed", ""},
		"by a label":                {`math.greatest(sum_by("many_total", "pool"))`, "80 Computed", ""},
		"by, with labels":           {`sum_by("many_total", {"pool": "b"}, "pool").size()`, "1 Computed", ""},
		"by a label that is not":    {`sum_by("many_total", "zone")[0]`, "100 Clamped", "120"},
		"avg by":                    {`avg_by("many_total", "pool")[1]`, "40 Computed", ""},
		"min by, max by":            {`min_by("many_total", "zone")[0] + max_by("many_total", "zone")[0]`, "100 Clamped", "120"},
		"count by":                  {`count_by("many_total", "pool").size() + count_by("nosuch", "pool").size()`, "2 Computed", ""},
		"sum by of none":            {`sum_by("nosuch", "pool")[0]`, "- NoSample", "nosuch"},
		"step below":                {`step(metric("x"), 9)`, "0 Computed", ""},
		"step at":                   {`step(8, 8u)`, "100 Computed", ""},
		"steps":                     {`step(metric("x"), [2, 4.5, 10], [-100, 0, 55, 100])`, "55 Computed", ""},
		"steps, computed":           {`step(1, values("x"), [1.0])`, "- Failed", "one value more than bounds"},
		"steps of texts":            {`step(1, [label("zero")], [1, 2])`, "- Failed", "lists of numbers"},
		"too dear":                  {`[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, count_over("x", duration("1m")) + count_over("many_total", duration("1m")) > 0)))) ? 1 : 0`, "- Failed", "cost limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.Compile(scorer(tc.cel))
			if err != nil {
				t.Fatal(err)
			}
			old := past("old", p.Asks(), map[string][]float64{"old": {1, 2, 3, 4, 5}})
			old.ObservedAt = noon.Add(-time.Hour)
			got := p.Evaluate(&Cluster{Labels: map[string]string{"zero": "0s"}, Sources: []*Source{
				source("bare", 0, sample("bare", 1)),
				past("node", p.Asks(), map[string][]float64{
					"x": {0, 2, 4, 6, 8}, "up_total": {0, 30, 60, 90, 120}, "reset_total": {70, 100, 130, 30, 60},
					"many_total/a": {-40, -10, 20, 50, 80}, "many_total/b": {-20, -5, 10, 25, 40},
					"new_total/a": {5, 5, 5, 5, 5}, "new_total/b": {none, none, none, 40, 100},
					"gap": {none, 1, none, 2, 3}, "once": {none, none, none, none, 4}, "jump": {0, 0, 0, 0, 100},
				}), old,
			}}, noon)
			it := got.Items[0]
			value := "-"
			if it.Value != nil {
				value = fmt.Sprint(*it.Value)
			}
			if value+" "+it.Reason != tc.want || !strings.Contains(it.Message, tc.wantMessage) {
				t.Errorf("%s = %s %s (%s), want %s (%s)", tc.cel, value, it.Reason, it.Message, tc.want, tc.wantMessage)
			}
		})
	}
}

func TestWindowsAreInputs(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(scorer(`avg_over("x", {"pool": "a"}, duration("1m"))`))
	if err != nil {
		t.Fatal(err)
	}
	r := p.Evaluate(&Cluster{Sources: []*Source{past("node", p.Asks(), map[string][]float64{"x/a": {9, 1, 2, 3, 4}, "x/b": {1}})}}, noon.Add(time.Second))
	want := []schemas.ScoreInput{{
		Kind: "window", Name: `avg_over(x{pool="a"}[1m0s])`, Value: "2.5", Subject: "sw.metric.c.node",
		Sequence: 5, ObservedAt: &noon, First: 2, Points: 4,
	}}
	if diff := cmp.Diff(want, r.Score()[0].Inputs); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !r.ValidUntil.Equal(noon.Add(time.Minute)) || !r.Wake.Equal(r.ValidUntil) {
		t.Errorf("holds until %v and wakes at %v, want validFor after the last event", r.ValidUntil, r.Wake)
	}
}

func TestTooManySeriesHaveNoPast(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(scorer(`rate("x", duration("1m"))`))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]float64{}
	for i := range window.MaxSeries + 1 {
		values[fmt.Sprintf("x/%d", i)] = []float64{1, 2, 3, 4}
	}
	it := p.Evaluate(&Cluster{Sources: []*Source{past("node", p.Asks(), values)}}, noon).Items[0]
	if it.Value != nil || it.Reason != schemas.ScoreTooManySeries || !strings.Contains(it.Message, "more than 1000 series of x") {
		t.Errorf("got %+v", it)
	}
}

func TestNoRoomForThePast(t *testing.T) {
	t.Parallel()
	p, err := newCompiler(t).Compile(scorer(`rate("x", duration("1m"))`))
	if err != nil {
		t.Fatal(err)
	}
	s := past("node", p.Asks(), map[string][]float64{"x": {1, 2, 3}})
	s.Past.Close()
	it := p.Evaluate(&Cluster{Sources: []*Source{s}}, noon).Items[0]
	if it.Value != nil || it.Reason != schemas.ScoreNoHistory || !strings.Contains(it.Message, "no room") {
		t.Errorf("got %+v", it)
	}
}

func TestCompileRefusesWhatIsNotWrittenOut(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for cel, want := range map[string]string{
		`rate("x", duration(label("w")))`:                 `rate() wants its window written out, for instance duration("5m")`,
		`rate("x", duration("1" + "m"))`:                  "written out",
		`rate("x", duration("nonsense"))`:                 "written out",
		`rate("x", duration("0s"))`:                       "more than 0 and up to 1h0m0s, it is 0s",
		`rate("x", duration("61m"))`:                      "up to 1h0m0s, it is 1h1m0s",
		`rate(label("m"), duration("1m"))`:                "the metric's name in quotes",
		`rate("x", {"pool": label("p")}, duration("1m"))`: "labels whose names and values are in quotes",
		`rate("x", "1m")`:                                 `rate("x", duration("5m"))`,
		`rate(metric("x"), duration("1m"))`:               "'rate' applied to '(double, duration)'",
		`percentile_over("x", 101, duration("1m"))`:       "from 0 to 100, it is 101",
		`percentile_over("x", -1, duration("1m"))`:        "from 0 to 100, it is -1",
		`percentile_over("x", duration("1m"))`:            "percentile_over",
		`ewma("x", duration("-1s"), duration("1m"))`:      "half-life of more than 0, it is -1s",
		`ewma("x", duration("1m"))`:                       "ewma",
		`step(1, [2, 1], [0, 1, 2])`:                      "bounds that rise",
		`step(1, [1], [0])`:                               "1 bounds and 1 values",
		`step(1, [], [0])`:                                "a bound at least",
		`step(1, ["a"], [0, -1])`:                         "lists of numbers",
		`step("a", 1)`:                                    "'step' applied to '(string, int)'",
		`sum_by("x")`:                                     "sum_by",
		`sum_by("x", "pool")`:                             "want a number",
	} {
		_, err := c.Compile(scorer(cel))
		var field *schemas.FieldError
		if !errors.As(err, &field) || field.Field != "spec.cel" || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v, want an error of spec.cel with %q", cel, err, want)
		}
	}
}

func TestAsks(t *testing.T) {
	t.Parallel()
	s := scorer("")
	s.Spec.Items = []schemas.ScorerItem{
		{Name: "a", CEL: `rate("x", {"pool": "a", "zone": ""}, duration("5m")) + metric("y")`},
		{Name: "b", CEL: `ewma("z", duration("1m"), duration("10m"))`, By: "pool"},
		{Name: "broken", CEL: `rate("w", duration("2h"))`},
	}
	p, err := newCompiler(t).Compile(s)
	if err == nil || !strings.Contains(err.Error(), "spec.items[2].cel") {
		t.Errorf("error = %v, want the field", err)
	}
	want := []window.Ask{
		{Metric: "x", Labels: map[string]string{"pool": "a"}, Length: 5 * time.Minute},
		{Metric: "z", Length: 10 * time.Minute},
	}
	if diff := cmp.Diff(want, p.Asks()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
