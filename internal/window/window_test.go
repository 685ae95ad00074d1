package window

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/internal/series"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// sample reads "name" or "name pool".
func sample(name string, value float64, pool string) schemas.Sample {
	s := schemas.Sample{Name: name, Value: value}
	if pool != "" {
		s.Labels = map[string]string{"pool": pool}
	}
	return s
}

func of(name, pool string) series.Series {
	s := sample(name, 0, pool)
	return series.Of(&s)
}

// at is an event that was observed so many seconds after noon.
func at(sequence uint64, seconds float64, samples ...schemas.Sample) Event {
	return Event{Sequence: sequence, ObservedAt: noon.Add(time.Duration(seconds * float64(time.Second))), Samples: series.NewSamples(samples)}
}

func fed(s *Selection, events ...Event) *Window {
	w := New(s, noon.Add(-24*time.Hour))
	for _, e := range events {
		w.Append(e)
	}
	return w
}

func values(w *Window, of series.Series, length time.Duration) []float64 {
	out := []float64{}
	for _, p := range w.Points(nil, of, length) {
		out = append(out, p.Value)
	}
	return out
}

var onlyX = Select([]Ask{{Metric: "x", Length: time.Minute}})

func TestPoints(t *testing.T) {
	t.Parallel()
	x := func(v float64) schemas.Sample { return sample("x", v, "") }
	y := sample("y", 9, "")
	for name, tc := range map[string]struct {
		events []Event
		length time.Duration
		want   []float64
	}{
		"nothing":                   {nil, time.Minute, []float64{}},
		"one":                       {[]Event{at(1, 0, x(1), y)}, time.Minute, []float64{1}},
		"those within":              {[]Event{at(1, 0, x(1)), at(2, 10, x(2)), at(3, 20, x(3))}, 15 * time.Second, []float64{2, 3}},
		"the first is out at last":  {[]Event{at(1, 0, x(1)), at(2, 10, x(2))}, 10 * time.Second, []float64{2}},
		"a gap":                     {[]Event{at(1, 0, x(1)), at(2, 10, y), at(3, 20, x(3))}, time.Minute, []float64{1, 3}},
		"gone at last":              {[]Event{at(1, 0, x(1)), at(2, 10, y)}, time.Minute, []float64{1}},
		"an unreadable one":         {[]Event{at(1, 0, x(1)), {Sequence: 2, Unreadable: true}, at(3, 20, x(3))}, time.Minute, []float64{1, 3}},
		"observed before":           {[]Event{at(1, 0, x(1)), at(2, 10, x(2)), at(3, 20, x(3)), at(4, 5, x(4))}, time.Minute, []float64{1, 4}},
		"observed at the same time": {[]Event{at(1, 0, x(1)), at(2, 0, x(2)), at(3, 1, x(3))}, time.Minute, []float64{2, 3}},
		"all observed before":       {[]Event{at(1, 10, x(1)), at(2, 20, x(2)), at(3, 0, x(3)), at(4, 1, x(4))}, time.Minute, []float64{3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, values(fed(onlyX, tc.events...), of("x", ""), tc.length)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestPointsSayWhere(t *testing.T) {
	t.Parallel()
	got := fed(onlyX, at(7, 0, sample("x", 1, "")), at(9, 1.5, sample("x", 2, ""))).Points(nil, of("x", ""), time.Minute)
	want := []Point{{Sequence: 7, At: noon, Value: 1}, {Sequence: 9, At: noon.Add(1500 * time.Millisecond), Value: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestOnlyWhatIsSelectedIsKept(t *testing.T) {
	t.Parallel()
	s := Select([]Ask{{Metric: "x", Labels: map[string]string{"pool": "a"}}, {Metric: "z"}, {Metric: "x", Labels: map[string]string{"pool": "c"}}})
	w := fed(s, at(1, 0, sample("x", 1, "a"), sample("x", 2, "b"), sample("x", 3, "c"), sample("x", 4, ""), sample("y", 5, ""), sample("z", 6, "a"), sample("z", 7, "")))
	for series, want := range map[series.Series][]float64{
		of("x", "a"): {1}, of("x", "b"): {}, of("x", "c"): {3}, of("x", ""): {}, of("y", ""): {}, of("z", "a"): {6}, of("z", ""): {7},
	} {
		if diff := cmp.Diff(want, values(w, series, time.Minute)); diff != "" {
			t.Errorf("%s: -want +got\n%s", series, diff)
		}
	}
	if n := len(w.values); n != 4 {
		t.Errorf("%d values are held, want 4", n)
	}
}

func TestTooManySeriesAreNotKept(t *testing.T) {
	t.Parallel()
	many := func(n int) []schemas.Sample {
		out := []schemas.Sample{sample("y", 1, "")}
		for i := range n {
			out = append(out, sample("x", float64(i), fmt.Sprint(i)))
		}
		return out
	}
	w := New(Select([]Ask{{Metric: "x"}, {Metric: "y"}}), noon)
	w.Append(at(1, 0, many(MaxSeries)...))
	if w.Over("x") || w.Over("y") || len(w.values) != MaxSeries+1 {
		t.Errorf("over = %v, %d values, want %d of as many series as are taken", w.Over("x"), len(w.values), MaxSeries+1)
	}
	w.Append(at(2, 1, many(MaxSeries+1)...))
	if !w.Over("x") || w.Over("y") {
		t.Errorf("over = %v, %v, want only x to have too many series", w.Over("x"), w.Over("y"))
	}
	w.Append(at(3, 2, many(2)...))
	if diff := cmp.Diff([]float64{1, 1, 1}, values(w, of("y", ""), time.Minute)); diff != "" || w.Over("x") {
		t.Errorf("over = %v, the neighbour: -want +got\n%s", w.Over("x"), diff)
	}
	if diff := cmp.Diff([]float64{1, 1}, values(w, of("x", "1"), time.Minute)); diff != "" {
		t.Errorf("x of the events that had few enough: -want +got\n%s", diff)
	}
}

func TestSelectionWithin(t *testing.T) {
	t.Parallel()
	a, ab := map[string]string{"a": "1"}, map[string]string{"a": "1", "b": "2"}
	for name, tc := range map[string]struct {
		narrow, wide []Ask
		want         bool
	}{
		"none in none":               {nil, nil, true},
		"none in some":               {nil, []Ask{{Metric: "x"}}, true},
		"some in none":               {[]Ask{{Metric: "x"}}, nil, false},
		"same, other lengths":        {[]Ask{{Metric: "x", Length: time.Hour}}, []Ask{{Metric: "x"}}, true},
		"one of two":                 {[]Ask{{Metric: "x"}}, []Ask{{Metric: "y"}, {Metric: "x"}}, true},
		"another":                    {[]Ask{{Metric: "x"}, {Metric: "z"}}, []Ask{{Metric: "y"}, {Metric: "x"}}, false},
		"labels in all":              {[]Ask{{Metric: "x", Labels: a}}, []Ask{{Metric: "x"}}, true},
		"labels in labels and all":   {[]Ask{{Metric: "x", Labels: a}}, []Ask{{Metric: "x", Labels: ab}, {Metric: "x"}}, true},
		"all in labels":              {[]Ask{{Metric: "x"}}, []Ask{{Metric: "x", Labels: a}}, false},
		"more labels in fewer":       {[]Ask{{Metric: "x", Labels: ab}}, []Ask{{Metric: "x", Labels: a}}, true},
		"fewer labels in more":       {[]Ask{{Metric: "x", Labels: a}}, []Ask{{Metric: "x", Labels: ab}}, false},
		"all and labels is just all": {[]Ask{{Metric: "x"}, {Metric: "x", Labels: a}}, []Ask{{Metric: "x"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Select(tc.narrow).Within(Select(tc.wide)); got != tc.want {
				t.Errorf("within = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	both, other := Select([]Ask{{Metric: "x"}, {Metric: "y"}}), Select([]Ask{{Metric: "x"}, {Metric: "z"}})
	w := fed(both, at(1, 0, sample("x", 1, ""), sample("y", 2, "")))
	if !w.Adopt(both) || !w.Adopt(onlyX) {
		t.Fatal("does not follow what selects less")
	}
	w.Append(at(2, 1, sample("x", 3, ""), sample("y", 4, "")))
	if diff := cmp.Diff([]float64{2}, values(w, of("y", ""), time.Minute)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if w.Adopt(both) || w.Adopt(other) {
		t.Error("follows what selects what it did not keep")
	}
}

func TestReaches(t *testing.T) {
	t.Parallel()
	w := New(onlyX, noon)
	if w.Append(at(1, 0, sample("x", 1, ""))); w.Reaches(time.Minute) {
		t.Error("one that has just begun reaches a minute back")
	}
	w.Append(at(2, 59.999, sample("x", 1, "")))
	if w.Reaches(time.Minute) || !w.Reaches(59*time.Second) {
		t.Error("reaches back farther, or less far, than the events that it was given")
	}
	if w.Append(at(3, 60, sample("x", 1, ""))); !w.Reaches(time.Minute) {
		t.Error("has followed for a minute, but does not reach so far")
	}
	full := New(onlyX, noon)
	for i := range MaxEvents {
		if full.Reaches(time.Hour) && i > 0 {
			t.Fatalf("reaches an hour back with %d events of %d", i, MaxEvents)
		}
		full.Append(at(uint64(i+1), float64(i), sample("x", 1, "")))
	}
	if !full.Reaches(time.Hour) {
		t.Error("holds all that the log does, but wants more")
	}
}

func TestClosedHoldsNothing(t *testing.T) {
	t.Parallel()
	w := fed(onlyX, at(1, 0, sample("x", 1, "")))
	w.Close()
	w.Append(at(2, 1, sample("x", 1, "")))
	w.Restore(fed(onlyX, at(1, 0, sample("x", 1, ""))))
	if !w.Closed() || !w.Reaches(MaxLength) || len(values(w, of("x", ""), time.Minute)) != 0 || w.Size() > 256 {
		t.Errorf("a closed window holds %d bytes", w.Size())
	}
}

// history makes events as a subject can have them: some unreadable, some
// observed before others, series that come and go.
func history(r *rand.Rand, n int) []Event {
	events := make([]Event, n)
	seconds, sequence := 0.0, uint64(0)
	for i := range events {
		sequence += uint64(1 + r.IntN(5))
		seconds += float64(r.IntN(20))
		if r.IntN(15) == 0 {
			seconds -= float64(r.IntN(200))
		}
		if r.IntN(10) == 0 {
			events[i] = Event{Sequence: sequence, Unreadable: true}
			continue
		}
		var samples []schemas.Sample
		for _, pool := range []string{"a", "b", "c"} {
			if r.IntN(8) > 0 {
				samples = append(samples, sample("x", float64(i), pool))
			}
		}
		events[i] = at(sequence, seconds, samples...)
	}
	return events
}

func all(w *Window) map[string][]Point {
	out := map[string][]Point{}
	for _, pool := range []string{"a", "b", "c"} {
		for _, length := range []time.Duration{time.Minute, MaxLength} {
			out[fmt.Sprint(pool, length)] = w.Points(nil, of("x", pool), length)
		}
	}
	return out
}

// TestWindowIsAFunctionOfTheLog: who ran on, who read what the log still
// holds, and who read that while more came in, hold the same.
func TestWindowIsAFunctionOfTheLog(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		events := history(r, 1+r.IntN(4*MaxEvents))
		ranOn := fed(onlyX, events...)
		kept := events[max(0, len(events)-MaxEvents):]
		if diff := cmp.Diff(all(ranOn), all(fed(onlyX, kept...))); diff != "" {
			t.Fatalf("who ran on and who began anew, of %d events:\n%s", len(events), diff)
		}
		// What was read ends somewhere within what came in meanwhile.
		from := r.IntN(len(kept))
		to := from + r.IntN(len(kept)-from)
		follows := New(onlyX, kept[from].ObservedAt)
		for _, e := range kept[from:] {
			follows.Append(e)
		}
		follows.Restore(fed(onlyX, kept[:to+1]...))
		if diff := cmp.Diff(all(ranOn), all(follows)); diff != "" {
			t.Fatalf("who read %d of %d events and followed from %d:\n%s", to+1, len(kept), from, diff)
		}
		if !follows.Reaches(MaxLength) {
			t.Fatal("does not reach as far as what was read")
		}
	}
}

func TestRestoreOfNothing(t *testing.T) {
	t.Parallel()
	w := New(onlyX, noon)
	w.Append(at(5, 0, sample("x", 1, "")))
	w.Restore(New(onlyX, noon.Add(-time.Hour)))
	if !w.Reaches(time.Hour) || len(values(w, of("x", ""), time.Hour)) != 1 {
		t.Error("what the log has dropped is lost, or is looked for again")
	}
}

// TestSize holds 10,000 windows of 5 series each and states what they take.
func TestSize(t *testing.T) {
	const windows, perSource = 10_000, 5
	var samples []schemas.Sample
	var asks []Ask
	for i := range perSource {
		name := fmt.Sprintf("series_%d", i)
		samples, asks = append(samples, sample(name, 1, "a")), append(asks, Ask{Metric: name, Length: 10 * time.Minute})
	}
	s, kept := Select(asks), series.NewSamples(samples)
	all := make([]*Window, windows)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range all {
		all[i] = New(s, noon)
		for n := range 2 * MaxEvents {
			all[i].Append(Event{Sequence: uint64(n + 1), ObservedAt: noon.Add(time.Duration(n) * 10 * time.Second), Samples: kept})
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used, stated := int64(after.HeapAlloc-before.HeapAlloc), int64(0)
	for _, w := range all {
		stated += w.Size()
	}
	t.Logf("%d windows of %d series: %d MiB, %d bytes each, %d stated", windows, perSource, used>>20, used/windows, stated/windows)
	if off := float64(stated) / float64(used); off < 0.9 || off > 1.15 {
		t.Errorf("%d bytes are held, %d are stated", used, stated)
	}
	if each := used / windows; each > 5000 {
		t.Errorf("a window takes %d bytes, want 4.4 KB", each)
	}
	runtime.KeepAlive(all)
}

func BenchmarkAppend(b *testing.B) {
	var samples []schemas.Sample
	var asks []Ask
	for i := range 50 {
		samples = append(samples, sample(fmt.Sprintf("series_%d", i), 1, "a"))
	}
	for i := range 5 {
		asks = append(asks, Ask{Metric: fmt.Sprintf("series_%d", 7*i), Length: 10 * time.Minute})
	}
	w, in := New(Select(asks), noon), series.NewSamples(samples)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Append(Event{Sequence: uint64(i), ObservedAt: noon.Add(time.Duration(i) * time.Second), Samples: in})
	}
}

func BenchmarkPoints(b *testing.B) {
	w := New(onlyX, noon)
	for i := range MaxEvents {
		w.Append(at(uint64(i), float64(i), sample("x", float64(i), "")))
	}
	x := of("x", "")
	var points []Point
	b.ReportAllocs()
	for b.Loop() {
		points = w.Points(points[:0], x, time.Minute)
	}
}
