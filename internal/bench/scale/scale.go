// Package scale measures what the hub's services need for a large fleet, and
// how fast they are back after all of them were killed.
package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

const (
	contender, rival   = "spoke-2", "spoke-1"
	high, middle, rest = 100, 50, 40

	source, metric, score = "node", "bench_free", "bench"

	// Targets, of the design.
	atMostMiB     = 600
	atMostSeconds = 5

	patience = 5 * time.Minute
	// calm is for how long a process must have run so that the stack starts
	// it again at once.
	calm = 10 * time.Second
)

// runner is a run under way.
type runner struct {
	options    Options
	rig        *rig.Rig
	tracker    *rig.Tracker
	placements []string

	memory, peak             map[string][]float64
	together, togetherPeak   []float64
	ready, decision, applied []float64
	up                       bool
}

// Run measures.
func Run(ctx context.Context, env rig.Env, o Options) (_ bench.Result, err error) {
	r, err := rig.Start(ctx, env, func(s *stack.Options) {
		s.Args = map[string][]string{"hub-bridge": {"--score-budget", fmt.Sprint(o.ScoreBudget)}}
	})
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = r.Close(err) }()
	m := &runner{options: o, rig: r, memory: map[string][]float64{}, peak: map[string][]float64{}}
	if err := m.prepare(ctx); err != nil {
		return bench.Result{}, err
	}
	defer m.tracker.Stop()
	if err := m.weigh(ctx); err != nil {
		return bench.Result{}, err
	}
	for i := range o.Restarts {
		r.Say("killing the services, %d of %d", i+1, o.Restarts)
		if err := m.restart(ctx); err != nil {
			return bench.Result{}, err
		}
		if err := m.weigh(ctx); err != nil {
			return bench.Result{}, err
		}
	}
	return m.result(), nil
}

func (m *runner) prepare(ctx context.Context) error {
	clusters, err := m.rig.Fleet(ctx, m.options.Clusters)
	if err != nil {
		return err
	}
	m.rig.Say("publishing %d series of each cluster", m.options.Series)
	f, err := wire.Open(m.rig.URL, wire.Load{Clusters: clusters, Source: source, Samples: m.options.Series, Metric: metric, Range: rest, Every: 1})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Send(ctx, len(clusters)); err != nil {
		return err
	}
	for cluster, value := range map[string]float64{contender: 0, rival: middle} {
		if err := m.publish(ctx, cluster, value); err != nil {
			return err
		}
	}
	if err := m.rig.Apply(ctx, m.dimensions(), true); err != nil {
		return err
	}
	objects := len(clusters) * len(rig.ByResource(m.dimensions()))
	m.rig.Say("waiting for %d AddOnPlacementScores on the hub", objects)
	if err := m.rig.ScoresOnHub(ctx, objects); err != nil {
		return err
	}
	all, err := m.rig.Place(ctx, "ours", m.options.Placements, m.dimensions(), true)
	if err != nil {
		return err
	}
	m.placements = rig.First(all, m.options.Scores)
	if m.tracker, err = m.rig.Track(ctx); err != nil {
		return err
	}
	_, _, _, err = m.tracker.Wait(ctx, m.tracker.Expect(m.placements, rival), patience)
	return err
}

func (m *runner) dimensions() []rig.Dimension {
	return rig.Dimensions(score, m.options.Scores, metric)
}

func (m *runner) publish(ctx context.Context, cluster string, value float64) error {
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, source), rig.Snapshot(m.dimensions(), value))
	if err != nil {
		return err
	}
	_, err = m.rig.Bus.Publish(ctx, events.MetricSubject(cluster, source), e)
	return err
}

// weigh reads the memory of the processes once they have nothing to do.
func (m *runner) weigh(ctx context.Context) error {
	if err := m.rig.Quiet(ctx, m.rig.Everything()...); err != nil {
		return err
	}
	if err := m.rig.Profile(ctx, fmt.Sprintf("scale-%d", len(m.together)), time.Second, rig.Services()...)(); err != nil {
		return err
	}
	resident, peak := 0.0, 0.0
	for _, name := range m.rig.Everything() {
		memory, err := m.rig.Memory(name)
		if err != nil {
			return err
		}
		now, most := float64(memory.Resident)/(1<<20), float64(memory.Peak)/(1<<20)
		m.memory[name], m.peak[name] = append(m.memory[name], now), append(m.peak[name], most)
		if name != stack.ProcessNATS {
			resident, peak = resident+now, peak+most
		}
	}
	m.together, m.togetherPeak = append(m.together, resident), append(m.togetherPeak, peak)
	return nil
}

func (m *runner) result() bench.Result {
	o := m.options
	out := bench.Result{
		Title: o.title(),
		About: []string{
			"Every cluster is scored, and every score is on the hub. Memory is that which is resident once all is settled, at first and after each cold start; the peak is that of a process's whole life.",
			"Cold start: all of the hub's services are killed at once and a metric is published that makes another cluster the best. Time runs from the kill, so the 100 to 200 ms are in it after which the stack starts a process again.",
		},
	}
	out.Add("hub services together: resident", bench.MiB, bench.AtMost(atMostMiB), m.together...)
	out.Add("hub services together: peaks", bench.MiB, nil, m.togetherPeak...)
	for _, name := range m.rig.Everything() {
		out.Add(name+": resident", bench.MiB, nil, m.memory[name]...)
		out.Add(name+": peak", bench.MiB, nil, m.peak[name]...)
	}
	out.Add("cold start to all services ready", bench.Seconds, nil, m.ready...)
	out.Add("cold start to first correct decision", bench.Seconds, bench.AtMost(atMostSeconds), m.decision...)
	out.Add("cold start to all PlacementDecisions moved", bench.Seconds, nil, m.applied...)
	return out
}
