// Package fold works out, from the log alone, what the hub must hold. It is
// what the services are checked against, so it imports none of their code:
// it knows the contracts in pkg/events and pkg/schemas, and for one simple
// rule it scores and places by itself.
package fold

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Rule is a scorer and a Placement that are simple enough to be worked out
// here: the score of a cluster is its one sample of Metric, Low..High mapped
// to 0..100, and the Placement takes the Select best of Clusters by that
// score alone, ties by name.
type Rule struct {
	Scorer    string
	Metric    string
	Low, High float64
	Placement string // NAMESPACE/NAME
	Select    int
	Clusters  []string
	// ValidFor is for how long a score holds after its metric, 0 for longer
	// than anybody looks.
	ValidFor time.Duration
}

// State is what the rule's objects on the hub say.
type State struct {
	// Scores is the value for each cluster that has one.
	Scores map[string]int32
	// Selected are the Placement's clusters, sorted by name.
	Selected []string
}

// Log is the last readable event of every subject of some streams.
type Log map[string]events.Message

// Read reads the last readable event of every subject of streams.
func Read(ctx context.Context, w events.Watcher, streams ...string) (Log, error) {
	log := Log{}
	for _, stream := range streams {
		done := errors.New("read")
		readable := events.Readable{Watcher: w}
		err := readable.Watch(ctx, events.Watch{Stream: stream}, func(u events.Update) error {
			switch u.Kind {
			case events.Stored:
				if u.Refused() == nil {
					log[u.Message.Subject] = u.Message
				}
			case events.Synced:
				return done
			}
			return nil
		})
		if !errors.Is(err, done) {
			return nil, fmt.Errorf("read %s: %w", stream, err)
		}
	}
	return log, nil
}

// FromMetrics folds the metrics of the log into what the hub must hold, as
// if the services did not exist.
func (r Rule) FromMetrics(log Log) (State, error) {
	values := map[string][]float64{}
	for subject, m := range log {
		parsed, err := events.ParseSubject(subject)
		if err != nil || parsed.Family != events.FamilyMetric {
			continue
		}
		metrics, readable := metricsOf(m, parsed)
		if !readable {
			continue // it is buried, and counts for nothing
		}
		for _, s := range metrics.Samples {
			if s.Name == r.Metric {
				values[parsed.Cluster] = append(values[parsed.Cluster], s.Value)
			}
		}
	}
	state := State{Scores: map[string]int32{}}
	for cluster, samples := range values {
		if len(samples) == 1 {
			state.Scores[cluster] = r.score(samples[0])
		}
	}
	state.Selected = r.best(state.Scores)
	return state, nil
}

// metricsOf is the snapshot in m, if it is one of its subject's own.
func metricsOf(m events.Message, s events.Subject) (*schemas.Metrics, bool) {
	e, err := events.Decode(m)
	if err != nil || e.Source() != events.ClusterSource(s.Cluster, s.Name) {
		return nil, false
	}
	payload, err := schemas.Decode(e.Type(), e.Data())
	metrics, isMetrics := payload.(*schemas.Metrics)
	return metrics, err == nil && isMetrics
}

func (r Rule) score(value float64) int32 {
	share := (value - r.Low) / (r.High - r.Low) * 100
	return int32(math.Round(min(max(share, 0), 100)))
}

func (r Rule) best(scores map[string]int32) []string {
	selected := r.ranked(scores)
	slices.Sort(selected)
	return selected
}

// ranked are the selected clusters in rank order.
func (r Rule) ranked(scores map[string]int32) []string {
	ranked := slices.DeleteFunc(slices.Clone(r.Clusters), func(c string) bool {
		_, scored := scores[c]
		return !scored
	})
	slices.SortFunc(ranked, func(a, b string) int {
		if scores[a] != scores[b] {
			return int(scores[b] - scores[a])
		}
		return strings.Compare(a, b)
	})
	return ranked[:min(r.Select, len(ranked))]
}

// FromDecisions folds the scores and decisions of the log into what the hub
// must hold: what the services said last.
func (r Rule) FromDecisions(log Log, now time.Time) (State, error) {
	state := State{Scores: map[string]int32{}}
	for subject, m := range log {
		parsed, err := events.ParseSubject(subject)
		if err != nil {
			return State{}, err
		}
		if parsed.Family != events.FamilyScore && parsed.Family != events.FamilyDecision {
			continue
		}
		e, err := events.Decode(m)
		if err != nil {
			return State{}, err
		}
		if schemas.IsDeleted(e.Type()) {
			continue
		}
		payload, err := schemas.Decode(e.Type(), e.Data())
		if err != nil {
			return State{}, err
		}
		switch p := payload.(type) {
		case *schemas.Score:
			if parsed.Name == r.Scorer && p.Items[0].Value != nil && p.Expiry(m.ReceivedAt).After(now) {
				state.Scores[p.Cluster] = *p.Items[0].Value
			}
		case *schemas.PlacementDecision:
			if parsed.Namespace+"/"+parsed.Name == r.Placement {
				for _, c := range p.Clusters {
					state.Selected = append(state.Selected, c.Name)
				}
			}
		}
	}
	slices.Sort(state.Selected)
	return state, nil
}

// Diff says in words how got differs from want; "" if it does not.
func Diff(got, want State) string {
	var lines []string
	if !slices.Equal(got.Selected, want.Selected) {
		lines = append(lines, fmt.Sprintf("selected %v, want %v", got.Selected, want.Selected))
	}
	names := slices.Concat(slices.Collect(maps.Keys(got.Scores)), slices.Collect(maps.Keys(want.Scores)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		g, inGot := got.Scores[name]
		w, inWant := want.Scores[name]
		switch {
		case !inGot:
			lines = append(lines, fmt.Sprintf("no score of %s, want %d", name, w))
		case !inWant:
			lines = append(lines, fmt.Sprintf("score of %s is %d, want none", name, g))
		case g != w:
			lines = append(lines, fmt.Sprintf("score of %s is %d, want %d", name, g, w))
		}
	}
	return strings.Join(lines, "; ")
}

// Differs says in words how got differs from what follows from the metrics
// of the log and from its last scores and decisions; "" if it does not.
func (r Rule) Differs(got State, log Log, now time.Time) string {
	fromMetrics, err := r.FromMetrics(log)
	if err != nil {
		return err.Error()
	}
	fromDecisions, err := r.FromDecisions(log, now)
	if err != nil {
		return err.Error()
	}
	var lines []string
	if diff := Diff(got, fromMetrics); diff != "" {
		lines = append(lines, "differs from the fold of the metrics: "+diff)
	}
	if diff := Diff(got, fromDecisions); diff != "" {
		lines = append(lines, "differs from the last scores and decisions: "+diff)
	}
	return strings.Join(lines, "\n")
}
