package writer

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestScoreMovesThePlacement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		w, _ := start(t, b.Peer(), nil)
		h.fleet("spoke-1", "spoke-2")
		h.score("spoke-1", 87, time.Hour)
		h.score("spoke-2", 12, time.Hour)
		synctest.Wait()
		h.place("train", onGPU)
		synctest.Wait()
		first := h.last("train")
		if got := placement.SelectedNames(first); !slices.Equal(got, []string{"spoke-1"}) || first.Cause != placement.CauseFirst {
			t.Fatalf("selected %v because of %s", got, first.Cause)
		}
		h.score("spoke-2", 99, time.Hour)
		synctest.Wait()
		second := h.last("train")
		if got := placement.SelectedNames(second); !slices.Equal(got, []string{"spoke-2"}) || second.Message != "spoke-2 (99) overtook spoke-1 (87)" {
			t.Fatalf("selected %v: %s", got, second.Message)
		}
		if second.Origin == nil || second.Origin.Subject != events.ScoreSubject("spoke-2", "gpu") {
			t.Errorf("origin %+v, want the score of spoke-2", second.Origin)
		}
		linear(t, b, "train")
		if err := w.Ready(); err != nil {
			t.Errorf("Ready = %v", err)
		}
	})
}

func TestRestartPublishesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b", "c")
		h.score("b", 5, time.Hour)
		h.place("one", onGPU)
		h.place("two", onBalance)
		h.place("three", `{}`) // Additive: its totals change by its own decision
		h.place("four", onBalance)
		synctest.Wait()
		time.Sleep(2 * time.Minute) // past every rate limit
		synctest.Wait()
		stop()
		want := len(b.Messages(events.StreamDecisions))
		if want < 4 {
			t.Fatalf("%d decisions, want one of each Placement at least", want)
		}
		for range 3 {
			_, stop := start(t, b.Peer(), nil)
			synctest.Wait()
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			stop()
		}
		if got := len(b.Messages(events.StreamDecisions)); got != want {
			t.Errorf("%d decisions after restarts, want %d as before", got, want)
		}
	})
}

func TestWhatHappenedWhileDownIsDecidedAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.score("a", 5, time.Hour)
		h.score("b", 4, time.Hour)
		h.place("train", onGPU)
		synctest.Wait()
		stop()
		h.cluster("a", schemas.Taint{Key: "gone", Effect: "NoSelect"})
		start(t, b.Peer(), nil)
		synctest.Wait()
		d := h.last("train")
		if got := placement.SelectedNames(d); !slices.Equal(got, []string{"b"}) || d.Cause != placement.CauseTaintChanged {
			t.Errorf("selected %v because of %s, want b because of the taint", got, d.Cause)
		}
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a")
		h.score("a", 5, time.Minute)
		h.place("train", onGPU)
		synctest.Wait()
		step := func(d time.Duration, wantReason string, wantSelected int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			last := h.last("train")
			var reason string
			if len(last.Explanations) > 0 {
				reason = last.Explanations[0].Reason
			}
			if len(last.Clusters) != wantSelected || reason != wantReason {
				t.Fatalf("%d selected, explained as %s, want %d and %s", len(last.Clusters), reason, wantSelected, wantReason)
			}
		}
		step(59*time.Second, placement.ExplainedSelected, 1)
		step(1100*time.Millisecond, placement.ExplainedHeld, 1)
		step(28*time.Second, placement.ExplainedHeld, 1)
		step(2*time.Second, "StaleScore", 0)
		h.score("a", 5, time.Minute) // the same value as before
		step(0, placement.ExplainedSelected, 1)
		h.score("a", 5, time.Hour)
		step(2*time.Minute, placement.ExplainedSelected, 1)
		linear(t, b, "train")
	})
}

func TestTolerationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet()
		h.cluster("a", schemas.Taint{Key: "drain", Effect: "NoSelect", TimeAdded: time.Now()})
		h.place("train", `{"tolerations":[{"key":"drain","operator":"Exists","tolerationSeconds":30}]}`)
		synctest.Wait()
		if d := h.last("train"); len(d.Clusters) != 1 {
			t.Fatalf("%d selected while the taint is tolerated", len(d.Clusters))
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if d := h.last("train"); len(d.Clusters) != 0 || d.Cause != placement.CauseTaintChanged {
			t.Errorf("%d selected after the toleration ended, cause %s", len(d.Clusters), d.Cause)
		}
	})
}

func TestScoresAloneAreRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.score("a", 50, time.Hour)
		h.score("b", 1, time.Hour)
		h.place("train", strings.Replace(onGPU, `{`, `{"scoreRateLimit":"30s",`, 1))
		synctest.Wait()
		for i := range 100 {
			h.score("a", int32(51+i%40), time.Hour)
			time.Sleep(time.Second)
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		all, _ := decisions(t, b, "train")
		if n := len(all); n < 4 || n > 6 {
			t.Errorf("%d decisions in 160 s, want about one every 30 s", n)
		}
		if got := all[len(all)-1].Clusters[0].Score; got != 51+99%40 {
			t.Errorf("last score %d, want the last one published", got)
		}
	})
}
