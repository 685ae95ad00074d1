// Package expression evaluates the CEL expressions of a Placement's
// celSelector as Open Cluster Management does: over the variable
// managedCluster, with scores(), parseJSON() and the libraries of Kubernetes,
// within the same limits of cost.
//
// It is pure: what scores() answers is the caller's. What of a ManagedCluster
// the expressions do not get is refused when they are compiled.
package expression
