package bench

import (
	"math"
	"slices"
	"strconv"
)

// Summary is what is told of some samples.
type Summary struct {
	N                  int
	Min, P50, P90, Max float64
}

// Summarise sums samples up. Those of none are NaN.
func Summarise(samples []float64) Summary {
	sorted := slices.Sorted(slices.Values(samples))
	return Summary{
		N: len(sorted), Min: Percentile(sorted, 0), P50: Percentile(sorted, 0.5), P90: Percentile(sorted, 0.9), Max: Percentile(sorted, 1),
	}
}

// Percentile returns the value below which a share p of the sorted samples
// lies, between two of them in proportion; NaN if there are none.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// Median of samples in any order.
func Median(samples []float64) float64 { return Summarise(samples).P50 }

// Ratios divides, one by one, the medians of the groups of samples: of is
// divided by by. A group without samples on either side is left out.
func Ratios(of, by [][]float64) []float64 {
	var out []float64
	for i := range min(len(of), len(by)) {
		if r := Median(of[i]) / Median(by[i]); !math.IsNaN(r) && !math.IsInf(r, 0) {
			out = append(out, r)
		}
	}
	return out
}

// format writes v with three significant digits, and whole numbers in full.
func format(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10:
		return trim(strconv.FormatFloat(v, 'f', 1, 64))
	case size >= 1:
		return trim(strconv.FormatFloat(v, 'f', 2, 64))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// trim drops the zeros at the end of a decimal fraction.
func trim(s string) string {
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}
