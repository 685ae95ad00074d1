package series

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spokewire/spokewire/pkg/schemas"
)

func sample(name string, value float64, labels ...string) schemas.Sample {
	s := schemas.Sample{Name: name, Value: value, Labels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

func TestSamplesAreSorted(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	in := []schemas.Sample{
		sample("b", 1), sample("a.b", 2), sample("a", 3, "x", "1"), sample("a", 4), sample("a", 5, "x", "2", "y", "\x00\xff"),
		sample("a", 6, "x", string(make([]byte, 300))),
	}
	want := NewSamples(in)
	for range 20 {
		r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
		if got := NewSamples(in); !slices.Equal(got, want) {
			t.Fatalf("the order of the samples changes the result: %v, want %v", got, want)
		}
	}
	for i := range in {
		if text := Of(&in[i]).String(); text != in[i].Series() {
			t.Errorf("series = %s, want %s", text, in[i].Series())
		}
	}
	for name, n := range map[string]int{"a": 4, "a.b": 1, "b": 1, "": 0, "c": 0} {
		if got := len(Named(want, name)); got != n {
			t.Errorf("%d samples are named %q, want %d", got, name, n)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	in := sample("a", 1, "pool", "p1", "empty", "")
	s := Of(&in)
	for name, tc := range map[string]struct {
		label, want string
		found       bool
	}{
		"one":         {"pool", "p1", true},
		"empty":       {"empty", "", true},
		"none":        {"node", "", false},
		"not a value": {"p1", "", false},
	} {
		if got, found := s.Label(tc.label); got != tc.want || found != tc.found {
			t.Errorf("%s: label %s = %q %v, want %q %v", name, tc.label, got, found, tc.want, tc.found)
		}
	}
	for name, tc := range map[string]struct {
		want    map[string]string
		matches bool
	}{
		"any":         {nil, true},
		"one":         {map[string]string{"pool": "p1"}, true},
		"all":         {map[string]string{"pool": "p1", "empty": ""}, true},
		"other value": {map[string]string{"pool": "p2"}, false},
		"other label": {map[string]string{"pool": "p1", "node": ""}, false},
	} {
		if got := s.Matches(tc.want); got != tc.matches {
			t.Errorf("%s: matches %v = %v, want %v", name, tc.want, got, tc.matches)
		}
	}
}

func BenchmarkNewSamples(b *testing.B) {
	var in []schemas.Sample
	for i := range 10 {
		in = append(in, sample(fmt.Sprintf("series_%02d", 9-i), float64(i), "instance", "node-1", "job", "node"))
	}
	b.ReportAllocs()
	for b.Loop() {
		NewSamples(in)
	}
}
