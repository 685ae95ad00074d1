package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const day = 24 * time.Hour

// TestSilentSourceIsForgotten: a scorer that has run for long says of a
// source that the log has dropped what one says that was just started.
func TestSilentSourceIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "s", `metric("x")`, func(s *schemas.Scorer) { s.Spec.ValidFor = new(schemas.Duration(30 * day)) })
		metric(t, b, "c", "silent", "x=1")
		expect(t, b, "c", "s", "1 Computed")
		time.Sleep(day - time.Hour)
		expect(t, b, "c", "s", "1 Computed")
		time.Sleep(2*time.Hour + time.Second)
		expect(t, b, "c", "s", "1 Computed", "- NoSample")
		if n := len(e.clusters["c"].Sources); n != 0 {
			t.Errorf("%d sources are kept", n)
		}
		metric(t, b, "c", "silent", "x=2")
		expect(t, b, "c", "s", "1 Computed", "- NoSample", "2 Computed")
	})
}

func TestWhatIsDeletedIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "kept", `metric("x")`, nil)
		for i := range 100 {
			name := fmt.Sprintf("c%d", i)
			hubCluster(t, b, name, nil, nil)
			metric(t, b, name, "node", "x=1")
			apply(t, b, "gone-"+name, `metric("x")`, nil)
			synctest.Wait()
			deleteScorer(t, b, "gone-"+name)
			synctest.Wait()
			if i > 0 {
				deleteCluster(t, b, name)
			}
		}
		time.Sleep(events.TombstoneTTL - day)
		synctest.Wait()
		if len(e.clusters) != 100 || len(e.scorers) != 101 {
			t.Errorf("%d clusters and %d scorers before the log has dropped their ends", len(e.clusters), len(e.scorers))
		}
		metric(t, b, "c0", "node", "x=1") // the engine goes on after what was just read
		synctest.Wait()
		time.Sleep(day + 3*time.Hour)
		synctest.Wait()
		if len(e.clusters) != 1 || len(e.scorers) != 1 || len(e.clusters["c0"].pairs) != 1 {
			t.Errorf("%d clusters and %d scorers are kept, want one of each", len(e.clusters), len(e.scorers))
		}
		expect(t, b, "c1", "kept") // its tombstone went, too
		if got := history(t, b, "c0", "kept"); got[len(got)-1] != "- NoSample" {
			t.Errorf("the score of the cluster that is left ends with %v", got[len(got)-1])
		}
	})
}
