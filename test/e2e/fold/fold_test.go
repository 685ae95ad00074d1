package fold

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

var rule = Rule{Scorer: "load", Metric: "load", Low: 0, High: 10, Placement: "default/p", Select: 1, Clusters: []string{"a", "b", "c"}}

func TestTheFoldScoresAndPlacesByItself(t *testing.T) {
	t.Parallel()
	log := Log{}
	add(t, log, events.MetricSubject("a", "s"), schemas.TypeMetricsObserved, sample("load", 5))
	add(t, log, events.MetricSubject("b", "s"), schemas.TypeMetricsObserved, sample("load", 5))
	add(t, log, events.MetricSubject("c", "s"), schemas.TypeMetricsObserved, sample("load", 9))
	add(t, log, events.MetricSubject("c", "other"), schemas.TypeMetricsObserved, sample("load", 9)) // ambiguous
	got, err := rule.FromMetrics(log)
	if err != nil {
		t.Fatal(err)
	}
	want := State{Scores: map[string]int32{"a": 50, "b": 50}, Selected: []string{"a"}}
	if diff := Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestTheFoldOfDecisionsTakesWhatWasSaidLastAndHolds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	later, earlier := now.Add(time.Minute), now.Add(-time.Minute)
	value := int32(50)
	items := []schemas.ScoreItem{{Name: "load", Value: &value, Reason: schemas.ScoreComputedReason}}
	log := Log{}
	add(t, log, events.ScoreSubject("a", "load"), schemas.TypeScoreComputed, &schemas.Score{Cluster: "a", Scorer: "load", Items: items, ValidUntil: &later})
	add(t, log, events.ScoreSubject("b", "load"), schemas.TypeScoreComputed, &schemas.Score{Cluster: "b", Scorer: "load", Items: items, ValidUntil: &earlier})
	add(t, log, events.ScoreSubject("c", "load"), schemas.TypeScoreDeleted, &schemas.Deleted{Name: "load"})
	add(t, log, events.DecisionSubject("placement", "default", "p"), schemas.TypePlacementDecided, &schemas.PlacementDecision{
		Placement: schemas.PlacementRef{Namespace: "default", Name: "p", UID: "u"}, Mode: schemas.ModeDirect, Scheduler: "spokewire",
		Clusters: []schemas.SelectedCluster{{Name: "a"}}, Cause: "First", Now: now,
	})
	got, err := rule.FromDecisions(log, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := Diff(got, State{Scores: map[string]int32{"a": 50}, Selected: []string{"a"}}); diff != "" {
		t.Error(diff)
	}
}

func TestDiffSeesEveryDifference(t *testing.T) {
	t.Parallel()
	want := State{Scores: map[string]int32{"a": 1, "b": 2}, Selected: []string{"b"}}
	for name, got := range map[string]State{
		"score":    {Scores: map[string]int32{"a": 1, "b": 3}, Selected: []string{"b"}},
		"missing":  {Scores: map[string]int32{"b": 2}, Selected: []string{"b"}},
		"extra":    {Scores: map[string]int32{"a": 1, "b": 2, "c": 0}, Selected: []string{"b"}},
		"selected": {Scores: map[string]int32{"a": 1, "b": 2}, Selected: []string{"a"}},
	} {
		if Diff(got, want) == "" {
			t.Errorf("%s: no difference seen", name)
		}
	}
	if diff := Diff(want, want); diff != "" {
		t.Errorf("a state differs from itself: %s", diff)
	}
}

func sample(name string, value float64) *schemas.Metrics {
	return &schemas.Metrics{Samples: []schemas.Sample{{Name: name, Value: value}}}
}

func add(t *testing.T, log Log, subject, eventType string, p schemas.Payload) {
	t.Helper()
	e, err := events.New(eventType, source(subject), p)
	if err != nil {
		t.Fatal(err)
	}
	h, data, err := events.Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(data) {
		t.Fatalf("data of %s is not JSON", subject)
	}
	log[subject] = events.Message{Subject: subject, Sequence: 1, ReceivedAt: time.Now(), Header: h, Data: data}
}

// source is whom an event under subject has to come from.
func source(subject string) string {
	if s, err := events.ParseSubject(subject); err == nil && s.Family == events.FamilyMetric {
		return events.ClusterSource(s.Cluster, s.Name)
	}
	return "/test"
}
