package difftest

import "math/rand/v2"

// draw makes the choices of one fleet.
type draw struct{ *rand.Rand }

// often is true in percent of a hundred cases.
func (d draw) often(percent int) bool { return d.IntN(100) < percent }

// between draws from low to high, both included.
func (d draw) between(low, high int) int { return low + d.IntN(high-low+1) }

// one draws from choices.
func one[T any](d draw, choices ...T) T { return choices[d.IntN(len(choices))] }

// some draws n of choices, or all where there are fewer, in a random order.
func some[T any](d draw, n int, choices ...T) []T {
	shuffled := append([]T(nil), choices...)
	d.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return shuffled[:min(n, len(shuffled))]
}
