package flap

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Policy is how a Placement of one cluster is decided.
type Policy struct {
	Name        string
	Annotations map[string]string
	// Weight is that of the score, Steady that of OCM's prioritizer.
	Weight, Steady int
}

// Outcome is what a policy made of a trace.
type Outcome struct {
	Moves int
	// Regret is by how much the selected cluster was worth less than the best,
	// in points times minutes.
	Regret float64
	// Delays are how long each fallen cluster stayed selected.
	Delays []time.Duration
}

// start is when every trace starts.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Replay decides the trace as the placement-writer does: at each sample, and
// whenever a decision says that its time has come.
func Replay(t *Trace, p Policy) (Outcome, error) {
	w, err := newWorld(t, p)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	out.Delays = make([]time.Duration, len(t.Falls))
	for i := range t.Samples() {
		now := start.Add(time.Duration(i) * t.Every)
		out.Moves += w.wait(now)
		for c := range t.Seen {
			w.score(c, t.Seen[c][i], now)
		}
		out.Moves += w.decide(now)
		out.Regret += t.regret(w.selected, i)
		for n, f := range t.Falls {
			if gone := out.Delays[n] > 0 && w.selected != f.Cluster; i >= f.Sample && w.selected == f.Cluster && !gone {
				out.Delays[n] = now.Add(t.Every).Sub(start.Add(time.Duration(f.Sample) * t.Every))
			}
		}
	}
	return out, nil
}

func (t *Trace) regret(selected, sample int) float64 {
	best := t.Truth[selected][sample]
	for c := range t.Truth {
		best = max(best, t.Truth[c][sample])
	}
	return (best - t.Truth[selected][sample]) * t.Every.Minutes()
}

// world is a fleet with one Placement.
type world struct {
	fleet     *placement.Fleet
	placement *placement.Placement
	ranking   *placement.Ranking
	names     []string
	numbers   map[string]int
	selected  int
	decisions uint64
	next      time.Time
}

const spec = `{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact","configurations":[
 {"weight":%d,"scoreCoordinate":{"type":"AddOn","addOn":{"resourceName":"load","scoreName":"load"}}},
 {"weight":%d,"scoreCoordinate":{"type":"BuiltIn","builtIn":"Steady"}}]}}`

func newWorld(t *Trace, p Policy) (*world, error) {
	w := &world{fleet: placement.NewFleet(), numbers: map[string]int{}}
	if err := w.fleet.SetClusterSet(&schemas.ClusterSet{Name: "default", SelectorType: "ExclusiveClusterSetLabel"}); err != nil {
		return nil, err
	}
	w.fleet.SetBinding(&schemas.Binding{Name: "default", Namespace: "default", ClusterSet: "default"})
	for c := range t.Seen {
		name := fmt.Sprintf("spoke-%d", c+1)
		w.names, w.numbers[name] = append(w.names, name), c
		w.fleet.SetCluster(&schemas.Cluster{Name: name, Labels: map[string]string{"cluster.open-cluster-management.io/clusterset": "default"}})
	}
	var err error
	w.placement, err = placement.Parse(schemas.Placement{
		Name: "flap", Namespace: "default", UID: "flap", Direct: true, Annotations: p.Annotations,
		Spec: json.RawMessage(fmt.Sprintf(spec, p.Weight, p.Steady)),
	})
	if err != nil {
		return nil, err
	}
	w.ranking = placement.NewRanking(w.placement, w.fleet, nil)
	return w, nil
}

func (w *world) score(c int, value int32, now time.Time) {
	until := now.Add(time.Hour)
	w.fleet.SetScore(&schemas.Score{
		Cluster: w.names[c], Scorer: "load", ValidUntil: &until,
		Items: []schemas.ScoreItem{{Name: "load", Value: &value, Reason: schemas.ScoreComputedReason}},
	}, now, now)
}

// wait decides at the times between two samples that decisions asked for.
func (w *world) wait(now time.Time) (moves int) {
	for !w.next.IsZero() && w.next.Before(now) {
		moves += w.decide(w.next)
	}
	return moves
}

func (w *world) decide(now time.Time) (moves int) {
	w.next = w.ranking.Refresh(now)
	if w.ranking.Difference() != placement.Material {
		return 0
	}
	d := w.ranking.Decision()
	w.selected = w.numbers[d.Clusters[0].Name]
	w.decisions++
	w.ranking.SetPrior(&placement.Prior{Decision: &d, Sequence: w.decisions})
	w.next = w.ranking.Refresh(now)
	return len(d.Removed)
}
