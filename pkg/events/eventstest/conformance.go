package eventstest

import (
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
)

// Roles is everything that a bus does.
type Roles interface {
	events.Publisher
	events.Getter
	events.Watcher
	events.Worker
	events.Historian
}

// Fixture is a bus under test, with events.Streams and nothing in them.
type Fixture struct {
	Bus Roles
	// Other is a second connection to the same streams.
	Other Roles
	// Disconnect and Reconnect cut and restore Bus's connection only.
	Disconnect, Reconnect func()
	// Store puts a message on the bus as it is.
	Store func(subject string, h events.Header, data []byte)
	// Purge removes all events of a subject.
	Purge func(subject string)
}

// Conformance tests what the interfaces of package events promise. open is
// called once for each test, and cleans up with t.
func Conformance(t *testing.T, open func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, Fixture){
		"Publish/stored and read back":         testPublish,
		"Publish/the same event is one event":  testDedupe,
		"Publish/an id that is taken":          testTakenID,
		"Publish/compare and set":              testCompareAndSet,
		"Publish/one of many writers wins":     testOneWriterWins,
		"Publish/a repeated compare and set":   testRepeatedCompareAndSet,
		"Publish/a tombstone":                  testTombstone,
		"Publish/what is refused":              testRefused,
		"Publish/waits for the connection":     testPublishWaits,
		"Last/of nothing":                      testLastOfNothing,
		"Watch/state, then what follows":       testWatch,
		"Watch/no gap while others publish":    testWatchNoGap,
		"Watch/only what its filters cover":    testWatchFilters,
		"Watch/reads again after a lost link":  testWatchReconnect,
		"Watch/after a lost link, nothing new": testWatchReconnectUnchanged,
		"Watch/since a time":                   testWatchSince,
		"Watch/since, after a lost link":       testWatchSinceReconnect,
		"Watch/how far the state goes":         testWatchPosition,
		"Watch/how it ends":                    testWatchEnds,
		"Watch/hostile messages":               testWatchHostile,
		"Past/at each position":                testPast,
		"Past/what is not kept":                testPastLost,
		"Past/of many subjects":                testPastOfMany,
		"Past/how it ends":                     testPastEnds,
		"Past/the next event":                  testNext,
		"Work/each event once":                 testWork,
		"Work/retry and drop":                  testWorkRetry,
		"Work/order within a subject":          testWorkOrder,
		"Work/bounds":                          testWorkBounds,
		"Work/the last delivery":               testWorkLastDelivery,
		"Work/goes on after a lost link":       testWorkReconnect,
		"Work/hostile messages":                testWorkHostile,
		"Work/how it ends":                     testWorkEnds,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}
