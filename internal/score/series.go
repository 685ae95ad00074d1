package score

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"unique"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// series identifies a time series. Handles to it are shared among all
// clusters, because most clusters have the same series.
type series struct {
	name string
	// labels holds the names and values in order of the names, each with its
	// length before it: compact, comparable and sortable.
	labels string
}

// Sample is the value of one series, in a form that is small enough to keep
// for every series of every cluster.
type Sample struct {
	series unique.Handle[series]
	value  float64
}

// Name returns the metric name of the sample.
func (s Sample) Name() string { return s.series.Value().name }

// NewSamples turns the samples of a metrics event, which must be valid, into
// the form that [Source] wants.
func NewSamples(in []schemas.Sample) []Sample {
	out := make([]Sample, len(in))
	var scratch []byte
	for i := range in {
		var labels string
		labels, scratch = encodeLabels(in[i].Labels, scratch)
		out[i] = Sample{series: unique.Make(series{name: in[i].Name, labels: labels}), value: in[i].Value}
	}
	slices.SortFunc(out, func(a, b Sample) int {
		x, y := a.series.Value(), b.series.Value()
		return cmp.Or(strings.Compare(x.name, y.name), strings.Compare(x.labels, y.labels))
	})
	return out
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

// matches reports whether the series has every label of want.
func (s series) matches(want map[string]string) bool {
	if len(want) == 0 {
		return true
	}
	found := 0
	for rest := s.labels; rest != ""; {
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
func (s series) String() string {
	sample := schemas.Sample{Name: s.name, Labels: map[string]string{}}
	for rest := s.labels; rest != ""; {
		var name, value string
		name, rest = next(rest)
		value, rest = next(rest)
		sample.Labels[name] = value
	}
	return sample.Series()
}
