package main

import "testing"

func TestScore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		past []float64
		want float64
		ok   bool
	}{
		"no past":             {nil, 0, false},
		"idle":                {[]float64{0, 0}, 100, true},
		"busy":                {[]float64{1}, 0, true},
		"the average":         {[]float64{0.25, 0.75}, 50, true},
		"only the newest":     {[]float64{1, 1, 1, 0, 0, 0, 0, 0}, 100, true},
		"more than there is":  {[]float64{7}, 0, true},
		"less than there can": {[]float64{-1}, 100, true},
	} {
		past := make([]Sample, len(test.past))
		for i, v := range test.past {
			past[i] = Sample{Time: float64(i), Value: v}
		}
		if got, ok := Score(nil, past); got != test.want || ok != test.ok {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, ok, test.want, test.ok)
		}
	}
}
