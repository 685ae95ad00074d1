//go:build !race

package faults

const raceFactor = 1
