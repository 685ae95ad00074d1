package access_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/pkg/events"
)

func TestMirrorsAreDeclaredStreams(t *testing.T) {
	t.Parallel()
	mirrors := access.Mirrors()
	if len(mirrors) != 1 || mirrors[0].Stream.Name != events.StreamDecisions {
		t.Errorf("got %+v, want the decisions alone", mirrors)
	}
}

// await polls until done, or fails the test.
func await(t *testing.T, done func() bool) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("the condition does not come true")
		}
	}
}

func awaitMirror(t *testing.T, reader *client, subject string) {
	t.Helper()
	await(t, func() bool {
		m, err := reader.RequestWithContext(within(t), "$JS.read.API.DIRECT.GET."+events.StreamDecisions+"."+subject, nil)
		return err == nil && m.Header.Get(nats.JSSubject) == subject
	})
}

// mirrored waits until the mirror holds want messages, and returns how many
// it does.
func mirrored(t *testing.T, h *hub, want uint64) (got uint64) {
	t.Helper()
	admin := h.dial(t, access.ReadAdmin, access.ReadAdmin)
	await(t, func() bool {
		s, err := admin.js.Stream(within(t), events.StreamDecisions)
		if err != nil {
			t.Fatal(err)
		}
		got = s.CachedInfo().State.Msgs
		return got >= want
	})
	return got
}
