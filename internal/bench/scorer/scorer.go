// Package scorer measures how many metric events a scorer takes in a second,
// beside a consumer that does nothing but decode them.
package scorer

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/proc"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bench/wire"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/events"
)

// Targets, of the design.
const (
	atLeastRate  = 10_000
	atLeastShare = 0.5
)

const metric = "bench_free"

// runner is a run under way.
type runner struct {
	options  Options
	rig      *rig.Rig
	firehose *wire.Firehose

	scorer         []float64 // events a second
	scorerCPU      []float64 // events a second of processor time
	plain          map[string][]float64
	plainCPU       map[string][]float64
	offered, taken float64
	liveCPU        float64
}

// Run measures.
func Run(ctx context.Context, env rig.Env, o Options) (_ bench.Result, err error) {
	r, err := rig.Start(ctx, env, func(s *stack.Options) { s.Hub = stack.None })
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = r.Close(err) }()
	m := &runner{options: o, rig: r, plain: map[string][]float64{}, plainCPU: map[string][]float64{}}
	if err := m.prepare(ctx); err != nil {
		return bench.Result{}, err
	}
	defer m.firehose.Close()
	for i := range o.Rounds {
		r.Say("round %d of %d", i+1, o.Rounds)
		if err := m.round(ctx, i); err != nil {
			return bench.Result{}, err
		}
	}
	if err := m.live(ctx); err != nil {
		return bench.Result{}, err
	}
	return m.result(), nil
}

func (m *runner) prepare(ctx context.Context) error {
	o := m.options
	if err := m.rig.Halt(access.PlacementWriter); err != nil {
		return err
	}
	if err := m.rig.Apply(ctx, rig.Dimensions("bench", 1, metric), true); err != nil {
		return err
	}
	var err error
	m.firehose, err = wire.Open(m.rig.URL, wire.Load{
		Clusters: rig.Clusters(o.Clusters), Source: "node", Samples: o.Samples, Metric: metric, Range: 100, Every: o.every(),
	})
	if err != nil {
		return err
	}
	if err := m.firehose.Send(ctx, o.Clusters); err != nil {
		return err
	}
	if err := m.rig.Stored(ctx, events.StreamScores, "sw.score.*.bench", o.Clusters); err != nil {
		return err
	}
	if !o.Pin {
		return nil
	}
	return proc.Pin(ctx, m.rig.PID(access.Scorer), m.processor())
}

func (m *runner) processor() int { return proc.Machine().Cores - 1 }

// round has the scorer work off events that were stored while it was stopped,
// and then the consumers read the very same.
func (m *runner) round(ctx context.Context, i int) error {
	last, err := m.firehose.Last(ctx)
	if err != nil {
		return err
	}
	if err := m.drain(ctx, i); err != nil {
		return err
	}
	for _, decode := range []string{wire.DecodeJSON, wire.DecodeRead} {
		took, cpu, err := m.consume(ctx, last+1, decode)
		if err != nil {
			return err
		}
		m.plain[decode] = append(m.plain[decode], float64(m.options.Events)/took.Seconds())
		m.plainCPU[decode] = append(m.plainCPU[decode], float64(m.options.Events)/cpu.Seconds())
	}
	return nil
}

func (m *runner) folded(ctx context.Context) (float64, error) {
	return m.rig.Metric(ctx, access.Scorer, "spokewire_scorer_events_folded_total", `stream="`+events.StreamMetrics+`"`)
}

// drain takes the time from when the scorer goes on until it has scored
// everything.
func (m *runner) drain(ctx context.Context, i int) error {
	before, err := m.folded(ctx)
	if err != nil {
		return err
	}
	pid := m.rig.PID(access.Scorer)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	err = m.firehose.Send(ctx, m.options.Events)
	usage := m.rig.Usage()
	began := time.Now()
	if err := errors.Join(err, syscall.Kill(pid, syscall.SIGCONT)); err != nil {
		return err
	}
	profiled := func() error { return nil }
	if i == m.options.Rounds-1 {
		profiled = m.rig.Profile(ctx, "scorer", 2*time.Second, access.Scorer)
	}
	err = rig.Poll(ctx, "the scorer has taken all events (if it was stopped for longer than 5 s, it reads only the newest: try fewer --events)", 30*time.Second, 10*time.Millisecond,
		func() (bool, error) {
			now, err := m.folded(ctx)
			return now-before >= float64(m.options.Events), err
		})
	if err != nil {
		return err
	}
	took := time.Since(began)
	used := m.rig.Usage().CPU(usage, access.Scorer)
	m.scorer = append(m.scorer, float64(m.options.Events)/took.Seconds())
	m.scorerCPU = append(m.scorerCPU, float64(m.options.Events)/max(used, 10*time.Millisecond).Seconds())
	return errors.Join(profiled(), m.rig.Quiet(ctx, access.Scorer))
}

// live offers events at a rate, as many collectors would.
func (m *runner) live(ctx context.Context) error {
	m.rig.Say("%d events/s for %s", m.options.Rate, m.options.Live)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- m.firehose.Run(ctx, m.options.Rate) }()
	if !pause.For(ctx, time.Second) {
		return ctx.Err()
	}
	profiled := m.rig.Profile(ctx, "scorer-live", 5*time.Second, access.Scorer)
	first, err := m.firehose.Last(ctx)
	if err != nil {
		return err
	}
	before, err := m.folded(ctx)
	if err != nil {
		return err
	}
	usage := m.rig.Usage()
	if !pause.For(ctx, m.options.Live) {
		return ctx.Err()
	}
	now := m.rig.Usage()
	after, err := m.folded(ctx)
	if err != nil {
		return err
	}
	last, err := m.firehose.Last(ctx)
	if err != nil {
		return err
	}
	seconds := now.Elapsed(usage).Seconds()
	m.offered, m.taken, m.liveCPU = float64(last-first)/seconds, (after-before)/seconds, 100*now.Cores(usage, access.Scorer)
	err = profiled()
	cancel()
	return errors.Join(err, <-done)
}
