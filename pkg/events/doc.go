// Package events is how Spokewire's programs, and yours, speak on the bus:
// CloudEvents in binary or structured mode, subjects, the contract of a
// handler and its decorators. It opens no connection; package jetstream does.
//
// The roles are small interfaces, so that a program asks for no more than it
// uses: [Publisher] stores an event, [Watcher] reads the current state of
// many subjects and then follows it, [Getter] reads the last event of one
// subject, [Worker] hands each event to a [Handler] until it is done with.
// Package eventstest holds a bus in memory and the suite of tests that every
// bus passes.
package events
