package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// expect waits until the engine is at rest and compares a history.
func expect(t *testing.T, b *eventstest.Bus, cluster, scorer string, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := history(t, b, cluster, scorer); !slices.Equal(got, want) {
		t.Fatalf("scores of %s by %s = %q, want %q", cluster, scorer, got, want)
	}
}

func TestMetricToScore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		synctest.Wait()
		if err := e.Ready(); err != nil {
			t.Fatal(err)
		}
		config := apply(t, b, "gpu", `linear(metric("gpu_free"), 0, 8)`, nil)
		synctest.Wait()
		ack := metric(t, b, "spoke.1", "node", "gpu_free=2 other=1")
		expect(t, b, "spoke.1", "gpu", "25 Computed")
		_, s := lastScore(t, b, "spoke.1", "gpu")
		subject := events.MetricSubject("spoke.1", "node")
		if s.Origin == nil || s.Origin.Subject != subject || s.Origin.ReceivedAt.IsZero() {
			t.Errorf("origin = %+v, want the metric event", s.Origin)
		}
		if s.Basis[events.StreamMetrics] != ack.Sequence || s.Basis[events.StreamConfig] != config.Sequence {
			t.Errorf("basis = %v, want %d and %d", s.Basis, ack.Sequence, config.Sequence)
		}
		if in := s.Items[0].Inputs; len(in) != 1 || in[0].Subject != subject || in[0].Sequence != ack.Sequence || in[0].Value != "2" {
			t.Errorf("inputs = %+v", in)
		}
		if want := s.Origin.ReceivedAt.Add(time.Minute); !s.ValidUntil.Equal(want) {
			t.Errorf("validUntil = %v, want %v", s.ValidUntil, want)
		}
	})
}

func TestScorerIsChangedAndDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		metric(t, b, "c1", "node", "x=3")
		metric(t, b, "c2", "node", "x=4")
		apply(t, b, "s", `metric("x")`, nil)
		expect(t, b, "c1", "s", "3 Computed")
		apply(t, b, "s", `metric("x") * 10.0`, nil)
		expect(t, b, "c1", "s", "3 Computed", "30 Computed")
		off := false
		apply(t, b, "s", `metric("x") * 10.0`, func(s *schemas.Scorer) { s.Spec.Hub = &off })
		expect(t, b, "c1", "s", "3 Computed", "30 Computed", "30 Computed")
		if _, s := lastScore(t, b, "c1", "s"); !s.HubOff {
			t.Error("hub: false was not taken over")
		}
		deleteScorer(t, b, "s")
		expect(t, b, "c1", "s", "deleted")
		expect(t, b, "c2", "s", "deleted")
		metric(t, b, "c1", "node", "x=5")
		expect(t, b, "c1", "s", "deleted")
		apply(t, b, "s", `metric("x")`, nil)
		expect(t, b, "c1", "s", "deleted", "5 Computed")
	})
}

func TestOnlyReadersAreEvaluated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "a", `metric("a")`, nil)
		apply(t, b, "b", `metric("b")`, nil)
		apply(t, b, "any", `metric(label("which", "a"))`, nil)
		metric(t, b, "c", "node", "a=1 b=1")
		synctest.Wait()
		was := evaluations(t, e)
		metric(t, b, "c", "other", "unrelated=1") // a new source: all
		synctest.Wait()
		metric(t, b, "c", "other", "unrelated=2")
		synctest.Wait()
		metric(t, b, "c", "node", "a=2")
		synctest.Wait()
		now := evaluations(t, e)
		for scorer, want := range map[string]int{"a": 2, "b": 2, "any": 3} {
			if got := now[scorer] - was[scorer]; got != want {
				t.Errorf("%s was evaluated %d times, want %d", scorer, got, want)
			}
		}
		expect(t, b, "c", "b", "1 Computed", "- NoSample")
	})
}

func TestEqualEventsArePublishedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		_, stop := start(t, b, nil)
		apply(t, b, "s", `metric("x")`, nil)
		for range 20 {
			metric(t, b, "c", "node", "x=1.1")
			synctest.Wait()
			time.Sleep(time.Second)
		}
		expect(t, b, "c", "s", "1 Computed")
		stop()
		start(t, b, nil) // a restart adds nothing either
		expect(t, b, "c", "s", "1 Computed")
		metric(t, b, "c", "node", "x=1.2")
		time.Sleep(15 * time.Second) // into the last half
		expect(t, b, "c", "s", "1 Computed", "1 Computed")
	})
}

func TestStaleScoreIsWithdrawn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		apply(t, b, "s", `metric("x")`, nil)
		apply(t, b, "sum", `sum("x")`, nil)
		apply(t, b, "slow", `metric("x", {"of": "a"})`, func(s *schemas.Scorer) { s.Spec.ValidFor = new(schemas.Duration(time.Hour)) })
		metric(t, b, "c", "a", "x{of=a}=1")
		expect(t, b, "c", "s", "1 Computed")
		time.Sleep(30 * time.Second)
		metric(t, b, "c", "b", "x{of=b}=2")
		expect(t, b, "c", "s", "1 Computed", "- Ambiguous")
		time.Sleep(29 * time.Second)
		expect(t, b, "c", "s", "1 Computed", "- Ambiguous")
		time.Sleep(time.Second) // a is stale now: one sample is left
		expect(t, b, "c", "s", "1 Computed", "- Ambiguous", "2 Computed")
		expect(t, b, "c", "sum", "1 Computed", "3 Computed", "2 Computed")
		time.Sleep(30 * time.Second)
		expect(t, b, "c", "s", "1 Computed", "- Ambiguous", "2 Computed", "- NoSample")
		if _, s := lastScore(t, b, "c", "s"); s.ValidUntil != nil {
			t.Errorf("a score without a value has validUntil %v", s.ValidUntil)
		}
		expect(t, b, "c", "slow", "1 Computed")
	})
}

func TestTimelessScoreIsRefreshed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		apply(t, b, "s", `label("tier") == "gold" ? 100 : 10`, nil)
		hubCluster(t, b, "c", map[string]string{"tier": "gold"}, nil)
		expect(t, b, "c", "s", "100 Computed")
		time.Sleep(95 * time.Second) // refreshed every 30 s
		expect(t, b, "c", "s", "100 Computed", "100 Computed", "100 Computed", "100 Computed")
		if _, s := lastScore(t, b, "c", "s"); !s.ValidUntil.After(time.Now()) {
			t.Error("the refreshed score has expired")
		}
		hubCluster(t, b, "c", map[string]string{"tier": "tin"}, nil)
		synctest.Wait()
		if got := history(t, b, "c", "s"); got[len(got)-1] != "10 Computed" {
			t.Errorf("after the label changed: %v", got)
		}
	})
}

func TestClusterIsDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		apply(t, b, "s", `metric("x") + double(claim("bonus", "0"))`, nil)
		metric(t, b, "c", "node", "x=1")
		expect(t, b, "c", "s", "1 Computed")
		hubCluster(t, b, "c", nil, map[string]string{"bonus": "5"})
		expect(t, b, "c", "s", "1 Computed", "6 Computed")
		deleteCluster(t, b, "c")
		expect(t, b, "c", "s", "deleted")
		metric(t, b, "c", "node", "x=2")
		expect(t, b, "c", "s", "deleted")
		hubCluster(t, b, "c", nil, nil)
		expect(t, b, "c", "s", "deleted", "2 Computed")
	})
}

func TestOthersScoresAreLetBe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		value := int32(7)
		publish(t, b, events.ScoreSubject("c", "own"), newEvent(t, schemas.TypeScoreComputed, "/me", &schemas.Score{
			Cluster: "c", Scorer: "own", ValidFor: schemas.Duration(time.Minute),
			Items: []schemas.ScoreItem{{Name: "own", Value: &value, Reason: schemas.ScoreComputedReason}},
		}))
		metric(t, b, "c", "node", "x=1")
		hubCluster(t, b, "c", nil, nil)
		deleteCluster(t, b, "c")
		deleteScorer(t, b, "own")
		time.Sleep(2 * time.Minute)
		expect(t, b, "c", "own", "7 Computed")
	})
}
