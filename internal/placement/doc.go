// Package placement decides which clusters a Placement selects: Open Cluster
// Management's own semantics, plus what Spokewire adds to them (a dead band, a
// policy for stale scores, an explanation of every decision).
//
// It is pure: a [Fleet] says what is known, [Decide] makes the decision of
// one Placement from it, for the moment that the caller names. [Ranking]
// makes the same decision again after a small change without looking at every
// cluster anew; Decide is a Ranking that starts from nothing, so the two
// cannot disagree about the rules.
//
// The steps of a decision stand in one file each, in this order: eligible
// (sets and bindings), predicate, taint, then the prioritizers (steady,
// balance, resource, addon) with their weights, then ranking, choose, group,
// condition, cause and explain.
package placement
