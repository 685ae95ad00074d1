package faults

import (
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// cutSpoke cuts a spoke's collector off from NATS. When it is back, what is
// current comes first, and what waited follows in full.
func cutSpoke() scenario {
	return scenario{name: "cut-spoke", bound: 5 * time.Second, strike: func(t *testing.T, r *round) {
		cluster := load.Clusters[r.random.IntN(len(load.Clusters))]
		link := r.links[cluster]
		cut := time.Now()
		link.Cut()
		wait(t, r.pick(3*time.Minute, 5*time.Second))
		back := time.Now()
		link.Restore()
		r.backfilled(t, cluster, cut, back)
	}}
}

// backfilled waits until the snapshots of the time in between are there.
func (r *round) backfilled(t *testing.T, cluster string, cut, back time.Time) {
	t.Helper()
	within := 20*time.Second + back.Sub(cut)/5
	first := true
	left := testwait.Until(t.Context(), within, func() string {
		// The backlog is read first, or the snapshot that came before it could
		// be missed. A long one takes longer than SW_METRICS keeps snapshots.
		evidence, err := fold.Gather(t.Context(), r.bus, back, events.StreamBackfill, events.StreamMetrics)
		r.seen = r.seen.Union(evidence)
		switch {
		case err != nil:
			return err.Error()
		case !fold.Came(evidence, cluster, workload):
			return "nothing of the backlog has come"
		case first && !fold.NewestFirst(evidence, cluster, workload):
			t.Errorf("the newest snapshot of %s did not come first", cluster)
		}
		first = false // the stream will forget the snapshot that came first
		if missing := fold.Backlog(evidence, cluster, workload, cut.Add(time.Second), back.Add(-time.Second)); missing != "" {
			return missing
		}
		if gaps := fold.Gaps(r.seen); len(gaps) > 0 {
			return gaps[0].String()
		}
		return ""
	})
	if left != "" {
		t.Errorf("invariant 1: not within %s: %s", within, left)
	}
}
