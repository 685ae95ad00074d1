// Package eventstest is for tests: a bus in memory, an embedded NATS server,
// a link that can be cut, and the suite that every bus passes.
package eventstest
