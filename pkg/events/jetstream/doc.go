// Package jetstream is the bus on NATS JetStream: the one place that speaks
// NATS.
//
// [Connect] waits for a server, [Bus.EnsureStreams] creates the streams that
// are missing, and the [Bus] is then an events.Publisher, Getter, Watcher
// and Worker. A Bus reconnects for ever; it keeps nothing to be sent later,
// so an event is either stored or its Publish still waits.
//
// Memory: a Watch holds the position of every subject (about 100 bytes each)
// and at most 16 MiB of messages that its callback has yet to take; a Work
// holds MaxInFlight messages.
package jetstream
