// Package inquiry answers questions about the decisions of Placements: why a
// cluster was, or was not, selected, whether a decision follows from its
// inputs, and what would be decided if something were otherwise.
//
// It is pure. A [Scene] is all that decisions rest on at one moment, taken
// from what the streams held then; who reads them knows from [Scene.Reads]
// what is needed. Decisions are made by package placement alone, so an answer
// cannot follow other rules than the decision that it is about.
package inquiry
