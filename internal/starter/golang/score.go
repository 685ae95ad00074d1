package main

import "math"

// recent is how many of the newest samples count.
const recent = 5

// Sample is the value of a series at a time, in seconds since 1970.
type Sample struct{ Time, Value float64 }

// Score is the logic, and the place to put your own: it turns the past of one
// series, oldest first, into a number from -100 to 100, more being better. It
// returns false where there is nothing to go by: no score is better than a
// wrong one.
//
// This one takes each series for how busy something is, from 0 to 1, and
// scores what is free, on the average of the newest samples.
func Score(_ map[string]string, past []Sample) (float64, bool) {
	if len(past) == 0 {
		return 0, false
	}
	newest := past[max(0, len(past)-recent):]
	sum := 0.0
	for _, s := range newest {
		sum += s.Value
	}
	busy := sum / float64(len(newest))
	return 100 * (1 - math.Max(0, math.Min(1, busy))), true
}
