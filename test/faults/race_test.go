//go:build race

package faults

// raceFactor is how much more memory a process takes under the race
// detector.
const raceFactor = 5
