// Package score computes scores of clusters: CEL expressions over metrics,
// labels and claims. It is pure: everything it reads, the time included, is
// handed to it, so that a score can be computed again from its inputs.
//
// [Compiler.Compile] turns a Scorer into a [Program], [Program.Evaluate]
// applies it to a [Cluster], and [Decide] says whether the result is worth
// publishing.
package score
