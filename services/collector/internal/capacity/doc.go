// Package capacity says what a cluster has, what its pods ask for and what
// is free, as Kubernetes' scheduler counts: a pod takes what it requests,
// with its init containers, sidecars and overhead, from the moment it has a
// node until it has ended; a pod without a node takes nothing yet.
//
// It is pure: it knows the API's types and no server.
package capacity
