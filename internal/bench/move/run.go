package move

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	// The contender's score goes up and down, the rival's is in between, and
	// everybody else's below.
	contender, rival = "spoke-2", "spoke-1"
	high, middle     = 100, 50
	others           = 40

	source      = "node"
	metric      = "bench_free"
	otherMetric = "bench_other"
	ourScore    = "bench"
	ocmScore    = "bench-ocm"
	otherScore  = "bench-other"
	otherOCM    = "bench-other-ocm"
)

// runner is a run under way.
type runner struct {
	options  Options
	rig      *rig.Rig
	tracker  *rig.Tracker
	clusters []string
	sides    []side
	noise    atomic.Int64 // scores that the background has written
}

// Run measures.
func Run(ctx context.Context, env rig.Env, o Options) (_ bench.Result, err error) {
	r, err := rig.Start(ctx, env, func(s *stack.Options) { s.OCM = o.OCM })
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = r.Close(err) }()
	m := &runner{options: o, rig: r}
	if err := m.prepare(ctx); err != nil {
		return bench.Result{}, err
	}
	defer m.tracker.Stop()
	for block := range o.Blocks {
		for _, s := range m.sides {
			if err := m.turn(ctx, s, block); err != nil {
				return bench.Result{}, fmt.Errorf("%s: %w", s.name(), err)
			}
		}
	}
	return m.result(), nil
}

// prepare builds the fleet, its scores and the Placements, and stops what is
// not measured first.
func (m *runner) prepare(ctx context.Context) error {
	o := m.options
	if o.OCM {
		if err := m.rig.Halt(stack.ProcessOCM); err != nil {
			return err
		}
	}
	var err error
	if m.clusters, err = m.rig.Fleet(ctx, o.Clusters); err != nil {
		return err
	}
	if m.tracker, err = m.rig.Track(ctx); err != nil {
		return err
	}
	if err := m.ourScores(ctx); err != nil {
		return err
	}
	all, err := m.rig.Place(ctx, "ours", o.Placements, m.dimensions(ourScore), true)
	if err != nil {
		return err
	}
	placements := rig.First(all, o.Scores)
	m.sides = []side{&ours{runner: m, rec: newRecord(placements)}}
	if err := m.wait(ctx, placements, rival); err != nil || !o.OCM {
		return err
	}
	return m.prepareOCM(ctx)
}

// ourScores has every cluster scored, and the scores written to the hub.
func (m *runner) ourScores(ctx context.Context) error {
	m.rig.Say("scoring %d clusters", m.options.Clusters)
	dimensions := m.dimensions(ourScore)
	if m.options.BackgroundScore == Other {
		dimensions = append(dimensions, rig.Dimensions(otherScore, 1, otherMetric)...)
	}
	if err := m.rig.Apply(ctx, dimensions, m.options.HubScores); err != nil {
		return err
	}
	f, err := wire.Open(m.rig.URL, wire.Load{Clusters: m.clusters, Source: source, Samples: m.options.Scores, Metric: metric, Range: others})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Send(ctx, len(m.clusters)); err != nil {
		return err
	}
	for cluster, value := range map[string]float64{contender: 0, rival: middle} {
		if err := m.publish(ctx, cluster, value); err != nil {
			return err
		}
	}
	if !m.options.HubScores {
		return m.rig.Stored(ctx, events.StreamScores, "sw.score.>", len(m.clusters)*objects(dimensions))
	}
	return m.rig.ScoresOnHub(ctx, len(m.clusters)*objects(dimensions))
}

// dimensions are the scores of a side.
func (m *runner) dimensions(name string) []rig.Dimension {
	return rig.Dimensions(name, m.options.Scores, metric)
}

// objects is how many scorers, or AddOnPlacementScores, hold the scores.
func objects(of []rig.Dimension) int { return len(rig.ByResource(of)) }

func (m *runner) prepareOCM(ctx context.Context) error {
	if err := m.rig.CreateScores(ctx, m.dimensions(ocmScore), m.clusters, func(cluster string) int32 {
		return map[string]int32{rival: middle}[cluster]
	}); err != nil {
		return err
	}
	if m.options.Background > 0 && m.options.BackgroundScore == Other {
		if err := m.rig.CreateScores(ctx, rig.Dimensions(otherOCM, 1, ""), m.clusters, func(string) int32 { return 0 }); err != nil {
			return err
		}
	}
	all, err := m.rig.Place(ctx, "ocm", m.options.Placements, m.dimensions(ocmScore), false)
	if err != nil {
		return err
	}
	placements := rig.First(all, m.options.Scores)
	up := false
	for _, limits := range m.options.OCMQPS {
		rec := newRecord(placements)
		rec.up = &up
		m.sides = append(m.sides, &ocm{runner: m, rec: rec, limits: limits})
	}
	return m.sides[0].stop()
}

// publish is the one event that moves the Placements.
func (m *runner) publish(ctx context.Context, cluster string, value float64) error {
	e, err := m.eventOf(cluster, value)
	if err != nil {
		return err
	}
	_, err = m.rig.Bus.Publish(ctx, events.MetricSubject(cluster, source), e)
	return err
}

func (m *runner) eventOf(cluster string, value float64) (event.Event, error) {
	return events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), rig.Snapshot(m.dimensions(ourScore), value))
}

// wait waits until all of the Placements show the winner.
func (m *runner) wait(ctx context.Context, placements []string, winner string) error {
	_, _, _, err := m.tracker.Wait(ctx, m.tracker.Expect(placements, winner), m.options.Patience+time.Minute)
	return err
}
