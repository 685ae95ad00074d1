package fold

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// validSlack allows for times that are rounded on the way.
const validSlack = time.Second

// Scores checks the rule's scores that were received after since: each is
// computed again from the metric that it names (5), holds no longer than that
// metric does (4), rests on its own cluster's metrics only (6), and says
// something new (3).
func (r Rule) Scores(e Evidence, since time.Time) (int, []Violation) {
	metrics := map[string]map[uint64]events.Message{}
	for _, m := range e[events.StreamMetrics] {
		if metrics[m.Subject] == nil {
			metrics[m.Subject] = map[uint64]events.Message{}
		}
		metrics[m.Subject][m.Sequence] = m
	}
	made := 0
	var found []Violation
	scores := e.bySubject(events.StreamScores)
	for _, subject := range slices.Sorted(maps.Keys(scores)) {
		var before *schemas.Score
		for _, m := range scores[subject] {
			payload, err := payloadOf(m)
			s, isScore := payload.(*schemas.Score)
			if err != nil || !isScore || s.Scorer != r.Scorer || !m.ReceivedAt.After(since) {
				before = nil
				continue
			}
			again, violations := r.score1(m, s, metrics)
			made += again
			found = append(found, violations...)
			if before != nil && sameScore(before, s) {
				found = append(found, violates(3, "score %d of %s says again what the one before it said", m.Sequence, subject))
			}
			before = s
		}
	}
	return made, found
}

// score1 checks one score.
func (r Rule) score1(m events.Message, s *schemas.Score, metrics map[string]map[uint64]events.Message) (made int, found []Violation) {
	for _, item := range s.Items {
		for _, input := range item.Inputs {
			if input.Kind != "metric" && input.Kind != "window" {
				continue
			}
			own := "sw.metric." + events.EncodeToken(s.Cluster) + "."
			if !strings.HasPrefix(input.Subject, own) {
				found = append(found, violates(6, "score %d of %s rests on %s", m.Sequence, s.Cluster, input.Subject))
			}
			source, kept := metrics[input.Subject][input.Sequence]
			if !kept || !isInput(source, input) {
				continue
			}
			if input.Kind == "window" {
				// What came of several events is not made again here; that it
				// is a function of the log is the scorer's own test.
				found = append(found, r.outlives(m, s, source)...)
				continue
			}
			made++
			found = append(found, r.again(m, s, item, source)...)
		}
	}
	return made, found
}

// isInput reports whether an event is the one that an input was read from: a
// stream that lost its end gives its sequence to another.
func isInput(m events.Message, input schemas.ScoreInput) bool {
	e, err := events.Decode(m)
	if err != nil || input.ObservedAt == nil {
		return true // judged all the same
	}
	age, err := events.Age(e)
	return err != nil || m.ReceivedAt.Add(-age).Equal(*input.ObservedAt)
}

func (r Rule) again(m events.Message, s *schemas.Score, item schemas.ScoreItem, source events.Message) []Violation {
	e, err := events.Decode(source)
	if err != nil {
		return []Violation{violates(5, "score %d of %s rests on %s %d: %v", m.Sequence, s.Cluster, source.Subject, source.Sequence, err)}
	}
	subject, err := events.ParseSubject(source.Subject)
	if err != nil || e.Source() != events.ClusterSource(subject.Cluster, subject.Name) {
		return []Violation{violates(6, "score %d of %s rests on an event of %s under %s", m.Sequence, s.Cluster, e.Source(), source.Subject)}
	}
	payload, err := schemas.Decode(e.Type(), e.Data())
	metric, isMetric := payload.(*schemas.Metrics)
	if err != nil || !isMetric {
		return []Violation{violates(5, "score %d of %s rests on %s %d, which is no metric: %v", m.Sequence, s.Cluster, source.Subject, source.Sequence, err)}
	}
	var found []Violation
	if want, known := r.value(metric); item.Value != nil && known && want != *item.Value {
		found = append(found, violates(5, "score %d of %s is %d, but %s %d gives %d", m.Sequence, s.Cluster, *item.Value, source.Subject, source.Sequence, want))
	}
	return append(found, r.outlives(m, s, source)...)
}

// outlives finds a score that claims to hold longer than an event that it
// rests on.
func (r Rule) outlives(m events.Message, s *schemas.Score, source events.Message) []Violation {
	e, err := events.Decode(source)
	if err != nil || r.ValidFor == 0 {
		return nil
	}
	age, err := events.Age(e)
	latest := source.ReceivedAt.Add(-age).Add(r.ValidFor + validSlack)
	if err != nil || !s.Expiry(m.ReceivedAt).After(latest) {
		return nil
	}
	return []Violation{violates(4, "score %d of %s claims to hold until %v, its metric does until %v", m.Sequence, s.Cluster, s.Expiry(m.ReceivedAt), latest)}
}

// value is the rule's score of a snapshot, if it holds the one sample.
func (r Rule) value(metrics *schemas.Metrics) (int32, bool) {
	var values []float64
	for _, s := range metrics.Samples {
		if s.Name == r.Metric {
			values = append(values, s.Value)
		}
	}
	if len(values) != 1 {
		return 0, false
	}
	return r.score(values[0]), true
}

// sameScore reports whether two scores differ in nothing that a reader
// could act on.
func sameScore(a, b *schemas.Score) bool {
	return cmp.Equal(said1(a), said1(b))
}

func said1(s *schemas.Score) schemas.Score {
	c := *s
	c.Origin, c.Basis, c.Items = nil, nil, slices.Clone(s.Items)
	for i := range c.Items {
		c.Items[i].Inputs = nil
	}
	return c
}
