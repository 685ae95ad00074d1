// Package asker scores clusters by asking scoring APIs over HTTP: OCM's
// DynamicScorers, on the hub or asked for over the bus.
//
// One goroutine owns the snapshot and decides. Calls are made beside it, and
// come back as inputs. Of several replicas one asks for a scorer: the one
// that the scorer's last status names, until the time that it names. Its
// status also holds what the scorer's configuration endpoint said last, so
// that whoever takes over, or starts anew, goes on from there.
package asker
