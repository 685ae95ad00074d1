package fold

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// message is an event where add puts it, with its place in a stream.
func message(t *testing.T, subject, eventType string, p schemas.Payload, sequence uint64, at time.Time) events.Message {
	t.Helper()
	log := Log{}
	add(t, log, subject, eventType, p)
	m := log[subject]
	m.Sequence, m.ReceivedAt = sequence, at
	return m
}

func scoreOf(cluster string, value int32, until time.Time) *schemas.Score {
	items := []schemas.ScoreItem{{Name: "load", Value: &value, Reason: schemas.ScoreComputedReason}}
	return &schemas.Score{Cluster: cluster, Scorer: "load", Items: items, ValidUntil: &until}
}

// TestATornLogIsJudgedWhereItIsCertain: a decision for b that does not follow
// from the scores, in logs that did and did not lose their end.
func TestATornLogIsJudgedWhereItIsCertain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, tc := range map[string]struct {
		torn     bool
		lastAt   time.Duration // when the last score was received, from the decision on
		position uint64        // that the decision rests on; the last score has 2
		since    time.Duration
		want     int
	}{
		"whole":                               {false, -time.Second, 2, -time.Minute, 1},
		"torn, but not there":                 {true, -time.Second, 2, -time.Minute, 1},
		"torn, and the sequence given again":  {true, time.Second, 2, -time.Minute, 0},
		"whole, and the clock of the bus off": {false, time.Second, 2, -time.Minute, 1},
		"torn, and not so long any more":      {true, -time.Second, 3, -time.Minute, 0},
		"made before":                         {true, -time.Second, 2, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			until := now.Add(time.Hour)
			e := Evidence{
				events.StreamScores: {
					message(t, events.ScoreSubject("a", "load"), schemas.TypeScoreComputed, scoreOf("a", 90, until), 1, now.Add(-time.Minute)),
					message(t, events.ScoreSubject("b", "load"), schemas.TypeScoreComputed, scoreOf("b", 50, until), 2, now.Add(tc.lastAt)),
				},
				events.StreamDecisions: {message(t, events.DecisionSubject("placement", "default", "p"), schemas.TypePlacementDecided, &schemas.PlacementDecision{
					Placement: schemas.PlacementRef{Namespace: "default", Name: "p", UID: "u"}, Mode: schemas.ModeDirect, Scheduler: "spokewire",
					Clusters: []schemas.SelectedCluster{{Name: "b"}}, Cause: "First", Now: now, Basis: map[string]uint64{events.StreamScores: tc.position},
				}, 1, now.Add(time.Hour))},
			}
			made, found := rule.Replays(e, now.Add(tc.since), tc.torn)
			if made != tc.want || len(found) != tc.want {
				t.Errorf("%d made again, found %v, want %d", made, found, tc.want)
			}
		})
	}
}

// TestCountedSeesWhatNobodyCounted: letters of another service, and of before,
// are not this one's.
func TestCountedSeesWhatNobodyCounted(t *testing.T) {
	t.Parallel()
	now := time.Now()
	letterOf := func(service string, sequence uint64, at time.Time) events.Message {
		letter := events.NewDeadLetter(service, events.Message{
			Stream: events.StreamMetrics, Subject: "sw.metric.a.s", Sequence: sequence, ReceivedAt: at,
		}, errors.New("odd"))
		return message(t, events.DeadSubject(service, events.StreamMetrics, sequence), schemas.TypeDeadLetterWritten, &letter, sequence, now)
	}
	e := Evidence{events.StreamDead: {letterOf("a", 1, now.Add(-time.Hour)), letterOf("a", 2, now), letterOf("a", 3, now), letterOf("b", 3, now)}}
	for counted, want := range map[int]int{1: 1, 2: 0, 3: 0} {
		if found := Counted(e, "a", now.Add(-time.Minute), counted); len(found) != want {
			t.Errorf("of %d counted: %v", counted, found)
		}
	}
}

// TestAScoreIsJudgedByItsOwnInput: another event may have its sequence.
func TestAScoreIsJudgedByItsOwnInput(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, observed := range map[string]struct {
		at   time.Duration
		want int
	}{"its own": {0, 1}, "another": {-time.Second, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := now.Add(observed.at)
			s := scoreOf("a", 90, now.Add(time.Minute))
			s.Items[0].Inputs = []schemas.ScoreInput{{Kind: "metric", Name: "load", Subject: events.MetricSubject("a", "s"), Sequence: 1, ObservedAt: &at}}
			e := Evidence{
				events.StreamMetrics: {message(t, events.MetricSubject("a", "s"), schemas.TypeMetricsObserved, sample("load", 5), 1, now)},
				events.StreamScores:  {message(t, events.ScoreSubject("a", "load"), schemas.TypeScoreComputed, s, 1, now)},
			}
			made, found := rule.Scores(e, now.Add(-time.Minute))
			if made != observed.want || len(found) != observed.want {
				t.Errorf("%d made again, found %v, want %d", made, found, observed.want)
			}
		})
	}
}

func TestUnionHasEachOnce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(sequence uint64, later time.Duration) events.Message {
		return events.Message{Sequence: sequence, ReceivedAt: now.Add(later)}
	}
	e := Evidence{"A": {at(2, 0), at(3, 0)}, "B": {at(1, 0)}}
	all := e.Union(Evidence{"A": {at(1, 0), at(2, 0), at(3, time.Hour)}, "C": {at(7, 0)}})
	for stream, want := range map[string][]uint64{"A": {1, 2, 3, 3}, "B": {1}, "C": {7}} {
		var got []uint64
		for _, m := range all[stream] {
			got = append(got, m.Sequence)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", stream, got, want)
		}
	}
	if len(e["A"]) != 2 || e["A"][0].Sequence != 2 {
		t.Errorf("the operand was changed: %v", e)
	}
}
