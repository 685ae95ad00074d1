// Package sample decides which series of an exposition become a snapshot:
// rules say what is kept, dropped and renamed, limits say how much is taken,
// and what the bus would refuse is left out with a reason instead of
// spoiling its neighbours.
//
// It is pure: it knows neither how an exposition is fetched nor how it is
// written.
package sample
