// Package outbox keeps snapshots in a file from the moment they are taken
// until the hub has acknowledged them. A kill at any moment loses nothing
// that Put has returned for, and brings nothing back that Done has.
//
// Of each source the newest snapshot is current, and is taken by TakeNewest
// for SW_METRICS. All others are superseded, and are taken by TakeSuperseded
// for SW_BACKFILL, in order. A snapshot that was stored by an earlier process
// is superseded even if it is the newest: how long ago it was taken, nothing
// that can be trusted says any more.
package outbox
