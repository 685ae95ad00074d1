// Package bridge is the deciding half of the hub-bridge: how OCM's objects
// read as Spokewire's payloads, which objects a decision, a score or a
// request asks for, and by which writes the hub gets there. It is pure: it
// opens no connection, reads no clock and logs nothing.
package bridge
