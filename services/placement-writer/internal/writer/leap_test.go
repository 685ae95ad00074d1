package writer

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

const allOnGPU = `{"prioritizerPolicy":{"mode":"Exact","configurations":[{"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"gpu","scoreName":"gpu"}},"weight":1}]}}`

// leap places on "alive" and "dead", whose scores hold for five minutes, and
// sets the server's clock.
func leap(t *testing.T, by time.Duration) (w *Writer, h hub, selects func(...string)) {
	t.Helper()
	b := eventstest.NewBus()
	h = hub{t, b}
	w, _ = start(t, b.Peer(), nil)
	h.fleet("alive", "dead")
	h.score("alive", 2, 5*time.Minute)
	h.score("dead", 1, 5*time.Minute)
	h.place("train", allOnGPU)
	selects = func(want ...string) {
		t.Helper()
		synctest.Wait()
		if got := placement.SelectedNames(h.last("train")); !slices.Equal(got, want) {
			t.Fatalf("selected %v, want %v", got, want)
		}
	}
	selects("alive", "dead")
	b.SetNow(func() time.Time { return time.Now().Add(by) })
	return w, h, selects
}

func TestForwardLeapExpiresNothingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, h, selects := leap(t, 10*time.Minute)
		h.cluster("other") // shows the new time
		selects("alive", "dead")
		time.Sleep(30 * time.Second)
		h.score("alive", 2, 5*time.Minute)
		selects("alive", "dead")
		time.Sleep(events.LeapHold - 30*time.Second - time.Millisecond)
		selects("alive", "dead")
		time.Sleep(time.Second) // alive has shown itself
		selects("alive")
		if n := decidertest.Total(t, w.Counts.Jumps); n != 1 {
			t.Errorf("%d jumps counted, want 1", n)
		}
		time.Sleep(6 * time.Minute)
		selects()
	})
}

func TestBackwardLeapExpiresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, h, selects := leap(t, -time.Hour)
		for range 4 {
			time.Sleep(5 * time.Second)
			h.score("alive", 3, 5*time.Minute) // looks as if it had expired
			h.score("dead", 4, 5*time.Minute)
			selects("alive", "dead")
		}
		time.Sleep(events.LeapHold)
		selects("dead", "alive")
		time.Sleep(3 * time.Minute)
		h.score("alive", 3, 5*time.Minute)
		time.Sleep(3 * time.Minute) // dead is, by the new time
		selects("alive")
		if n := decidertest.Total(t, w.Counts.Jumps); n != 1 {
			t.Errorf("%d jumps counted, want 1", n)
		}
	})
}
