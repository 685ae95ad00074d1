package eventstest_test

import (
	"testing"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

func TestMemoryBusConforms(t *testing.T) {
	t.Parallel()
	eventstest.Conformance(t, func(t *testing.T) eventstest.Fixture {
		b := eventstest.NewBus()
		t.Cleanup(b.Close)
		return eventstest.Fixture{
			Bus: b, Other: b.Peer(),
			Disconnect: b.Disconnect, Reconnect: b.Reconnect, Purge: b.Purge,
			Store: func(subject string, h events.Header, data []byte) { b.Store(subject, h, data) },
		}
	})
}
