package writer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// TestColdStartRanksOnlyWhatIsOutdated: a decision that rests on all there is
// needs no ranking, and still its score expires in time.
func TestColdStartRanksOnlyWhatIsOutdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		h := hub{t, b}
		_, stop := start(t, b.Peer(), nil)
		h.fleet("a", "b")
		h.score("a", 5, time.Hour)
		for i := range 5 {
			h.place(fmt.Sprintf("p%d", i), onGPU)
		}
		synctest.Wait()
		stop()
		h.place("new", onGPU)
		w, _ := start(t, b.Peer(), nil)
		synctest.Wait()
		if n := observed(t, w.counts.decide); n != 2 { // and once more behind its own decision
			t.Errorf("ranked %d times, want 2 for the one new Placement", n)
		}
		time.Sleep(time.Hour + 31*time.Second)
		synctest.Wait()
		for i := range 5 {
			d := h.last(fmt.Sprintf("p%d", i))
			if len(d.Clusters) != 0 || d.Cause != placement.CauseScoreExpired {
				t.Errorf("p%d selects %v because of %s after its score expired", i, d.Clusters, d.Cause)
			}
		}
	})
}

func observed(t *testing.T, h prometheus.Metric) uint64 {
	t.Helper()
	var m dto.Metric
	if err := h.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetHistogram().GetSampleCount()
}
