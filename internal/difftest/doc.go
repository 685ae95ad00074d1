// Package difftest compares two deciders of Placements. It generates small
// fleets that stress the rules of a decision, each with Placements to decide,
// and says whether two answers are the same.
//
// It is pure: the same seed gives the same fleets, for the moment that the
// caller names. Nothing in a fleet changes by the passing of a day, and no
// answer depends on what was selected before, so that both deciders come to
// rest at one answer in whatever order they learn of the objects.
package difftest
