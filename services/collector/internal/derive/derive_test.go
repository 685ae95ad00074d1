package derive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/promquery"
	"github.com/spokewire/spokewire/internal/promquery/promtest"
	"github.com/spokewire/spokewire/internal/sample"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// rig takes snapshots of one series after another.
type rig struct {
	*testing.T
	tracker *Tracker
	rules   sample.Rules
}

func newRig(t *testing.T, edit func(*Rules)) rig {
	r := Rules{Rates: []*regexp.Regexp{regexp.MustCompile("^c_total$")}, Window: time.Minute}
	if edit != nil {
		edit(&r)
	}
	return rig{T: t, tracker: New(r), rules: sample.Rules{Keep: []*regexp.Regexp{regexp.MustCompile("^gauge$")}}}
}

type one struct {
	name   string
	labels map[string]string
	value  float64
}

func (r rig) take(after time.Duration, series ...one) map[string]float64 {
	r.Helper()
	selection := r.rules.Start()
	round := r.tracker.Start(selection)
	for _, s := range series {
		if round.Wants([]byte(s.name)) {
			round.Add(sample.LabelsOf(s.labels), s.value, "")
		}
	}
	if err := round.End(noon.Add(after)); err != nil {
		r.Fatal(err)
	}
	snapshot, err := selection.Snapshot()
	if err != nil {
		r.Fatal(err)
	}
	got := map[string]float64{}
	for _, s := range snapshot.Samples {
		got[s.Series()] = s.Value
	}
	return got
}

func (r rig) want(what string, want, got map[string]float64) {
	r.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	c := func(value float64) one { return one{"c_total", map[string]string{"a": "b"}, value} }
	rate := func(value float64) map[string]float64 {
		return map[string]float64{`c_per_second{a="b"}`: value}
	}
	r.want("of one snapshot", map[string]float64{"gauge": 1}, r.take(0, c(100), one{"gauge", nil, 1}))
	r.want("of two", rate(3), r.take(10*time.Second, c(130)))
	r.want("over both", rate(2), r.take(20*time.Second, c(140)))
	r.want("after a reset", rate(1.5), r.take(30*time.Second, c(5)))
	r.want("a window later", rate(0), func() map[string]float64 {
		r.take(60*time.Second, c(5))
		return r.take(91*time.Second, c(5))
	}())
	r.want("gone", map[string]float64{}, r.take(100*time.Second))
	r.want("back, as new", map[string]float64{}, r.take(110*time.Second, c(1000)))
	r.want("and on", rate(1), r.take(120*time.Second, c(1010)))
	r.want("not a number, as gone", map[string]float64{}, r.take(130*time.Second, c(math.NaN())))
}

// A round that was not read to its end changes nothing.
func TestBrokenRound(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.take(0, one{"c_total", nil, 0})
	round := r.tracker.Start((&sample.Rules{}).Start())
	if round.Wants([]byte("c_total")) {
		round.Add(sample.Labels{All: sample.LabelsOf(nil).All}, 1e9, "")
	}
	r.want("as if it had not been", map[string]float64{"c_per_second": 1}, r.take(10*time.Second, one{"c_total", nil, 10}))
}

func TestBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *Rules) { r.Window = time.Hour })
	for i := range 2 * MaxPoints {
		r.take(time.Duration(i)*time.Second, one{"c_total", nil, float64(i)})
	}
	if n := len(r.tracker.series["c_total"].points); n != MaxPoints {
		t.Errorf("%d points are kept", n)
	}
	round := r.tracker.Start((&sample.Rules{MaxSamples: 1}).Start())
	for i := range MaxSeries + 1 {
		if round.Wants([]byte("c_total")) {
			round.Add(sample.LabelsOf(map[string]string{"i": fmt.Sprint(i)}), 1, "")
		}
	}
	if err := round.End(noon); failure.Of(err) != failure.TooManySamples {
		t.Errorf("error is %v", err)
	}
}

func TestQuantilesOfTheWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *Rules) {
		r.Rates, r.Histograms, r.Quantiles = nil, []*regexp.Regexp{regexp.MustCompile("^h$")}, []float64{0.5, 1}
	})
	h := func(le string, value float64) one {
		return one{"h_bucket", map[string]string{"le": le, "a": "b"}, value}
	}
	// What was counted before is no part of it.
	r.want("at first", map[string]float64{}, r.take(0, h("1", 1000), h("2", 1000), h("+Inf", 1000)))
	r.want("nothing counted", map[string]float64{}, r.take(10*time.Second, h("1", 1000), h("2", 1000), h("+Inf", 1000)))
	r.want("ten between 1 and 2", map[string]float64{`h{a="b",quantile="0.5"}`: 1.5, `h{a="b",quantile="1"}`: 2},
		r.take(20*time.Second, h("+Inf", 1010), h("2", 1010), h("1", 1000), one{"h_sum", nil, 15}, one{"h_bucket", nil, 7}))
	r.want("after a reset", map[string]float64{`h{a="b",quantile="0.5"}`: 1, `h{a="b",quantile="1"}`: 2},
		r.take(30*time.Second, h("1", 10), h("2", 10), h("+Inf", 10)))
}

// The formula is Prometheus' own: the same buckets give the same numbers.
func TestQuantileIsThatOfPrometheus(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 0))
	now := time.Now().Truncate(time.Second)
	const histograms = 60
	all := make([][]bucket, histograms)
	text := "# TYPE h_bucket gauge\n"
	for i := range all {
		for _, bound := range bounds(random) {
			b := bucket{bound: bound, count: float64(random.IntN(4) * random.IntN(50))}
			all[i] = append(all[i], b)
		}
		// Classic buckets count what those below count, too.
		for j := 1; j < len(all[i]); j++ {
			all[i][j].count += all[i][j-1].count
		}
		for _, b := range all[i] {
			text += promtest.History(fmt.Sprintf(`h_bucket{i="%d",le="%v"}`, i, leOf(b.bound)), now, time.Second, b.count)
		}
	}
	url := promtest.Start(t, promtest.Options{History: text + "# EOF\n"})
	client, err := promquery.New(promquery.Options{URL: url, Fetch: fetch.Options{MaxBytes: 1 << 20}, MaxSeries: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		result, err := client.Instant(t.Context(), fmt.Sprintf("histogram_quantile(%v, h_bucket)", q))
		if err != nil || len(result.Series) != histograms {
			t.Fatalf("%d series, %v", len(result.Series), err)
		}
		for _, s := range result.Series {
			var i int
			_, _ = fmt.Sscan(s.Labels["i"], &i)
			got, ok := quantile(q, all[i])
			if !ok {
				got = math.NaN()
			}
			want := s.Points[0].Value
			if math.IsNaN(want) != math.IsNaN(got) || math.Abs(want-got) > 1e-9 {
				t.Errorf("%v of %v is %v, Prometheus says %v", q, all[i], got, want)
			}
		}
	}
}

// bounds are those of a histogram, some of it below 0.
func bounds(random *rand.Rand) []float64 {
	var all []float64
	at := float64(random.IntN(3)) - 1
	for range random.IntN(6) {
		all = append(all, at)
		at += 0.25 * float64(1+random.IntN(8))
	}
	return append(all, at, math.Inf(1))
}

func leOf(bound float64) string {
	if math.IsInf(bound, 1) {
		return "+Inf"
	}
	return fmt.Sprint(bound)
}

func TestQuantileOfNoHistogram(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for name, buckets := range map[string][]bucket{
		"none":           {},
		"one":            {{inf, 5}},
		"none for all":   {{1, 5}, {2, 6}},
		"nothing in it":  {{1, 0}, {inf, 0}},
		"not a number":   {{1, 0}, {inf, math.NaN()}},
		"less than none": {{1, -5}, {inf, -3}},
	} {
		if v, ok := quantile(0.5, buckets); ok {
			t.Errorf("%s: %v", name, v)
		}
	}
}
