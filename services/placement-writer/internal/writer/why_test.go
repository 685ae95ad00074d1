package writer

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// TestScoresThatNeverWereDidNotExpire goes the whole way, and once more after
// a restart, which knows only the last event of each subject.
func TestScoresThatNeverWereDidNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("never", "nosample", "scored")
		h.publish(events.ScoreSubject("nosample", "gpu"), schemas.TypeScoreComputed, events.ScorerSource("nosample", "gpu"), &schemas.Score{
			Cluster: "nosample", Scorer: "gpu", ValidFor: schemas.Duration(time.Second),
			Items: []schemas.ScoreItem{{Name: "gpu", Reason: schemas.ScoreNoSample, Message: "no source has one"}},
		})
		h.score("scored", 7, time.Hour)
		h.place("train", onGPU)
		check := func(when string) {
			t.Helper()
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			want := map[string]string{"never": "score AddOn/gpu/gpu is missing", "nosample": "score AddOn/gpu/gpu has no value: NoSample (no source has one)"}
			d := h.await("train", "scored")
			for _, e := range d.Explanations {
				if e.Message != want[e.Cluster] || strings.Contains(d.Message, "expired") {
					t.Errorf("%s: %s is explained as %q, want %q; the decision says %q", when, e.Cluster, e.Message, want[e.Cluster], d.Message)
				}
				delete(want, e.Cluster)
			}
			if len(want) != 0 {
				t.Errorf("%s: unexplained %v", when, want)
			}
		}
		check("at first")
		stop()
		start(t, b.Peer(), nil)
		h.place("train", onGPU, func(p *schemas.Placement) { p.Generation = 2 })
		check("after a restart")
	})
}
