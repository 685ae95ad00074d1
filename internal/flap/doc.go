// Package flap replays traces of scores through the deciding core, once with
// flap control and once with OCM's Steady, and counts what each moved and what
// staying cost. It is pure: traces are generated from a seed, or read from
// what a Prometheus answered.
package flap
