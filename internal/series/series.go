// Package series holds samples in a form that is small enough to keep for
// every series of every cluster.
package series

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"sort"
	"strings"
	"unique"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Series identifies a time series: its metric name and its labels. It is
// comparable, and as large as a pointer: what it stands for is shared among
// all clusters, because most clusters have the same series.
type Series struct{ handle unique.Handle[identity] }

type identity struct {
	name string
	// labels holds the names and values in order of the names, each with its
	// length before it: compact, comparable and sortable.
	labels string
}

// Of returns the series of a sample.
func Of(s *schemas.Sample) Series {
	of, _ := intern(s, nil)
	return of
}

func intern(s *schemas.Sample, scratch []byte) (Series, []byte) {
	var labels string
	labels, scratch = encodeLabels(s.Labels, scratch)
	return Series{unique.Make(identity{name: s.Name, labels: labels})}, scratch
}

// Compare orders by name, then by labels.
func Compare(a, b Series) int {
	if a == b {
		return 0
	}
	x, y := a.handle.Value(), b.handle.Value()
	return cmp.Or(strings.Compare(x.name, y.name), strings.Compare(x.labels, y.labels))
}

// Name returns the metric name.
func (s Series) Name() string { return s.handle.Value().name }

// Label returns the value of a label, and whether there is one.
func (s Series) Label(name string) (string, bool) {
	for rest := s.handle.Value().labels; rest != ""; {
		var at, value string
		at, rest = next(rest)
		value, rest = next(rest)
		if at == name {
			return value, true
		}
	}
	return "", false
}

// Matches reports whether the series has every label of want.
func (s Series) Matches(want map[string]string) bool {
	if len(want) == 0 {
		return true
	}
	found := 0
	for rest := s.handle.Value().labels; rest != ""; {
		var name, value string
		name, rest = next(rest)
		value, rest = next(rest)
		if w, ok := want[name]; ok {
			if w != value {
				return false
			}
			found++
		}
	}
	return found == len(want)
}

// String writes the series as Prometheus does.
func (s Series) String() string {
	sample := schemas.Sample{Name: s.Name(), Labels: map[string]string{}}
	for rest := s.handle.Value().labels; rest != ""; {
		var name, value string
		name, rest = next(rest)
		value, rest = next(rest)
		sample.Labels[name] = value
	}
	return sample.Series()
}

// Sample is the value of one series.
type Sample struct {
	Series Series
	Value  float64
}

// NewSamples turns the samples of a metrics event, which must be valid, into
// that form, sorted by series.
func NewSamples(in []schemas.Sample) []Sample {
	out := make([]Sample, len(in))
	var scratch []byte
	for i := range in {
		out[i].Series, scratch = intern(&in[i], scratch)
		out[i].Value = in[i].Value
	}
	slices.SortFunc(out, func(a, b Sample) int { return Compare(a.Series, b.Series) })
	return out
}

// Named returns the samples of one metric name, out of samples that are
// sorted.
func Named(samples []Sample, name string) []Sample {
	from := sort.Search(len(samples), func(i int) bool { return samples[i].Series.Name() >= name })
	to := from
	for to < len(samples) && samples[to].Series.Name() == name {
		to++
	}
	return samples[from:to]
}

func encodeLabels(labels map[string]string, scratch []byte) (string, []byte) {
	if len(labels) == 0 {
		return "", scratch
	}
	var few [8]string
	names := slices.AppendSeq(few[:0], maps.Keys(labels))
	slices.Sort(names)
	b := scratch[:0]
	for _, name := range names {
		b = appendText(appendText(b, name), labels[name])
	}
	return string(b), b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// next splits the first text off encoded labels.
func next(encoded string) (text, rest string) {
	// A length below 128 is one byte; others are rare enough to copy.
	n, width := uint64(encoded[0]), 1
	if n >= 0x80 {
		n, width = binary.Uvarint([]byte(encoded[:min(len(encoded), binary.MaxVarintLen64)]))
	}
	end := width + int(n)
	return encoded[width:end], encoded[end:]
}
