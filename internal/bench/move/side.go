package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
)

// side is one of those that are compared.
type side interface {
	name() string
	// start runs the side's processes, stop ends them.
	start(context.Context) error
	stop() error
	// background makes noise until ctx ends.
	background(context.Context) error
	// flip returns what changes the contender's score to value.
	flip(value int) (func(context.Context) error, error)
	record() *record
	// deciders are the processes that decide.
	deciders() []string
	// profiled are the processes whose profiles tell where the time goes.
	profiled() []string
	// count reads what the side's processes count.
	count(context.Context) (map[string]float64, error)
}

// record is what was measured on a side, by block.
type record struct {
	placements []string
	// up is whether the contender is in front. Two sides that share their
	// Placements share it.
	up          *bool
	first, last [][]time.Duration
	// cores are those that each process used, rates what was counted a
	// second, memory what the processes that decide had resident, in MiB.
	cores, rates, memory map[string][]float64
}

func newRecord(placements []string) *record {
	return &record{placements: placements, up: new(bool), cores: map[string][]float64{}, rates: map[string][]float64{}, memory: map[string][]float64{}}
}

// ours is Spokewire.
type ours struct {
	*runner
	rec  *record
	down bool
}

func (s *ours) name() string       { return "Spokewire" }
func (s *ours) record() *record    { return s.rec }
func (s *ours) deciders() []string { return []string{access.PlacementWriter} }
func (s *ours) profiled() []string { return append(rig.Services(), rig.Hub) }

// start starts the services again where they were stopped.
func (s *ours) start(ctx context.Context) error {
	if s.down {
		s.down = false
		for _, name := range rig.Services() {
			if err := s.rig.Continue(ctx, name); err != nil {
				return err
			}
		}
	}
	return s.rig.Quiet(ctx, s.rig.Everything()...)
}

// stop stops them if somebody else is to be measured.
func (s *ours) stop() error {
	if !s.options.OCM {
		return nil
	}
	s.down = true
	var errs []error
	for _, name := range rig.Services() {
		errs = append(errs, s.rig.Halt(name))
	}
	return errors.Join(errs...)
}

func (s *ours) flip(value int) (func(context.Context) error, error) {
	e, err := s.eventOf(contender, float64(value))
	if err != nil {
		return nil, err
	}
	subject := events.MetricSubject(contender, source)
	return func(ctx context.Context) error {
		_, err := s.rig.Bus.Publish(ctx, subject, e)
		return err
	}, nil
}

// background publishes metric events of all clusters but the contenders.
func (s *ours) background(ctx context.Context) error {
	o := s.options
	load := wire.Load{Clusters: s.clusters[2:], Source: source, Samples: o.Samples, Metric: metric, Range: others, Every: every(o.Background, o.ScoreWrites)}
	if o.BackgroundScore == Other {
		load.Source, load.Metric = "background", otherMetric
	}
	f, err := wire.Open(s.rig.URL, load)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Run(ctx, o.Background)
}

// every is the number of events to one that changes a score.
func every(events, changes int) int {
	if changes == 0 {
		return 0
	}
	return max(1, events/changes)
}

// What is counted, for people.
const (
	metricEvents = "metric events scored"
	scoreEvents  = "scores published"
	hubWrites    = "writes to the hub"
	hubScores    = "writes to the hub: AddOnPlacementScores"
)

func (s *ours) count(ctx context.Context) (map[string]float64, error) {
	out := map[string]float64{}
	for what, series := range map[string][]string{
		metricEvents: {access.Scorer, "spokewire_scorer_events_folded_total", `stream="` + events.StreamMetrics + `"`},
		scoreEvents:  {access.Scorer, "spokewire_scorer_scores_published_total"},
		hubWrites:    {access.HubBridge, "spokewire_hub_bridge_writes_total"},
		hubScores:    {access.HubBridge, "spokewire_hub_bridge_writes_total", `kind="` + events.KindAddOnScore + `"`},
	} {
		v, err := s.rig.Metric(ctx, series[0], series[1], series[2:]...)
		if err != nil {
			return nil, err
		}
		out[what] = v
	}
	return out, nil
}

func ocmName(limits string) string { return "OCM, client limits " + limits }

// ocm is OCM's placement controller.
type ocm struct {
	*runner
	rec    *record
	limits string
}

func (s *ocm) name() string                                      { return ocmName(s.limits) }
func (s *ocm) record() *record                                   { return s.rec }
func (s *ocm) deciders() []string                                { return []string{stack.ProcessOCM} }
func (s *ocm) profiled() []string                                { return []string{rig.Hub} }
func (s *ocm) stop() error                                       { return s.rig.Halt(stack.ProcessOCM) }
func (s *ocm) count(context.Context) (map[string]float64, error) { return map[string]float64{}, nil }

func (s *ocm) start(ctx context.Context) error {
	if err := s.rig.Continue(ctx, stack.ProcessOCM, ocmLimits(s.limits)...); err != nil {
		return err
	}
	return s.rig.Quiet(ctx, stack.ProcessOCM)
}

func (s *ocm) flip(value int) (func(context.Context) error, error) {
	scores := rig.Scores(rig.ByResource(s.dimensions(ocmScore))[0], 1, int32(value))
	return func(ctx context.Context) error {
		if err := s.rig.WriteScores(ctx, contender, ocmScore, scores); err != nil {
			return fmt.Errorf("write score %s of %s: %w", ocmScore, contender, err)
		}
		return nil
	}, nil
}

// noiseWriters are the clients that write scores in the background.
const noiseWriters = 8

// background writes scores of all clusters but the contenders to the hub.
func (s *ocm) background(ctx context.Context) error {
	name := ocmScore
	if s.options.BackgroundScore == Other {
		name = otherOCM
	}
	group, ctx := errgroup.WithContext(ctx)
	due := make(chan int)
	group.Go(func() error {
		defer close(due)
		tick := time.NewTicker(time.Second / time.Duration(max(1, s.options.ScoreWrites)))
		defer tick.Stop()
		for i := 0; s.options.ScoreWrites > 0; i++ {
			select {
			case <-tick.C:
				due <- i
			case <-ctx.Done():
				return nil
			}
		}
		return nil
	})
	quiet := s.clusters[2:]
	for range noiseWriters {
		group.Go(func() error {
			for i := range due {
				value := int32((i + i/len(quiet)*7) % others)
				if err := s.rig.WriteScores(context.WithoutCancel(ctx), quiet[i%len(quiet)], name, rig.Scores(rig.Dimensions(name, 1, ""), 0, value)); err != nil {
					return err
				}
				s.noise.Add(1)
			}
			return nil
		})
	}
	return group.Wait()
}
