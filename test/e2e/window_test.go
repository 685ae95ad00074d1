package e2e

import (
	"strconv"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

const workYAML = `
apiVersion: spokewire.dev/v1alpha1
kind: Scorer
metadata: {name: work}
spec: {cel: 'avg_over("work", duration("30m"))', by: pool, validFor: 30m}
`

// work publishes what two pools of cluster a had so long ago.
func (y yard) work(ago time.Duration, east float64) {
	y.t.Helper()
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource("a", "work"), &schemas.Metrics{Samples: []schemas.Sample{
		{Name: "work", Value: east, Labels: map[string]string{"pool": "east"}},
		{Name: "work", Value: 40, Labels: map[string]string{"pool": "west"}},
	}})
	must(y.t, err)
	e.SetExtension(events.ExtAge, strconv.FormatInt(ago.Milliseconds(), 10))
	_, err = y.bus.Publish(y.t.Context(), events.MetricSubject("a", "work"), e)
	must(y.t, err)
}

// countScores counts what was said of cluster a by a scorer.
func (y yard) countScores(scorer string) int {
	y.t.Helper()
	e, err := fold.Gather(y.t.Context(), y.bus, time.Time{}, events.StreamScores)
	must(y.t, err)
	n := 0
	for _, m := range e[events.StreamScores] {
		if m.Subject == events.ScoreSubject("a", scorer) {
			n++
		}
	}
	return n
}

// TestScoresThatLookBackSurviveARestart: what two replicas say of the last
// half an hour, a score for each pool, is on the hub; it stands when both are
// started anew, and goes on from the same past.
func TestScoresThatLookBackSurviveARestart(t *testing.T) {
	t.Parallel()
	y := startYard(t, func(o *stack.Options) { o.Replicas = 2 })
	apply(t, y.stack, workYAML)
	for i := range 12 {
		y.work(time.Duration(11-i)*2*time.Minute, float64(i+1))
	}
	hub := scoringHub{hubClients: y.hub, t: t}
	hub.expectScores("a", "work", "work/east=7 work/west=40")
	before := y.countScores("work")
	y.restart(access.Scorer, access.Scorer+"-2")
	y.work(0, 100)
	hub.expectScores("a", "work", "work/east=14 work/west=40") // (1 + … + 12 + 100) / 13
	if said := y.countScores("work") - before; said != 1 {
		t.Errorf("%d scores were published after the restart, want the one that is new", said)
	}
}
