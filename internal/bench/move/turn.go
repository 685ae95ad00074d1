package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/stack"
)

const (
	warmUps = 2
	// settling is how long the background runs before the first round.
	settling = 3 * time.Second
)

// turn measures one side for a block of rounds.
func (m *runner) turn(ctx context.Context, s side, block int) (err error) {
	m.rig.Say("measuring %s, turn %d of %d", s.name(), block+1, m.options.Blocks)
	if err := s.start(ctx); err != nil {
		return err
	}
	quiet := m.startBackground(ctx, s)
	err = m.block(ctx, s, block)
	return errors.Join(err, quiet(), s.stop())
}

// startBackground returns what ends the background.
func (m *runner) startBackground(ctx context.Context, s side) (quiet func() error) {
	if m.options.Background == 0 {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.background(ctx) }()
	pause.For(ctx, settling)
	return func() error {
		cancel()
		return <-done
	}
}

func (m *runner) block(ctx context.Context, s side, block int) error {
	for range warmUps {
		if _, _, err := m.round(ctx, s); err != nil {
			return fmt.Errorf("first round: %w", err)
		}
	}
	rec := s.record()
	usage, written := m.rig.Usage(), m.noise.Load()
	before, err := s.count(ctx)
	if err != nil {
		return err
	}
	profiled := m.rig.Profile(ctx, fmt.Sprintf("move-%d-%d", slices.Index(m.sides, s), block), 5*time.Second, s.profiled()...)
	var first, last []time.Duration
	for range m.options.Rounds / m.options.Blocks {
		f, l, err := m.round(ctx, s)
		if err != nil {
			return err
		}
		first, last = append(first, f), append(last, l)
	}
	now := m.rig.Usage()
	after, err := s.count(ctx)
	if err != nil {
		return err
	}
	rec.first, rec.last = append(rec.first, first), append(rec.last, last)
	seconds := now.Elapsed(usage).Seconds()
	for what := range after {
		rec.rates[what] = append(rec.rates[what], (after[what]-before[what])/seconds)
	}
	if noise := m.noise.Load() - written; noise > 0 {
		rec.rates[backgroundWrites] = append(rec.rates[backgroundWrites], float64(noise)/seconds)
	}
	for _, name := range s.deciders() {
		memory, err := m.rig.Memory(name)
		if err != nil {
			return err
		}
		rec.memory[name] = append(rec.memory[name], float64(memory.Resident)/(1<<20))
	}
	for _, name := range now.Names() {
		rec.cores[name] = append(rec.cores[name], now.Cores(usage, name))
	}
	return profiled()
}

// backgroundWrites are those of the benchmark itself.
const backgroundWrites = "background: scores written to the hub"

// round changes the winner once.
func (m *runner) round(ctx context.Context, s side) (first, last time.Duration, err error) {
	rec := s.record()
	value, winner := high, contender
	if *rec.up {
		value, winner = 0, rival
	}
	change, err := s.flip(value)
	if err != nil {
		return 0, 0, err
	}
	expected := m.tracker.Expect(rec.placements, winner)
	began := time.Now()
	if err := change(ctx); err != nil {
		return 0, 0, err
	}
	*rec.up = !*rec.up
	f, l, moved, err := m.tracker.Wait(ctx, expected, m.options.Patience)
	if err != nil {
		return 0, 0, err
	}
	if moved != len(rec.placements) {
		return 0, 0, fmt.Errorf("%d of %d Placements had moved before the round", len(rec.placements)-moved, len(rec.placements))
	}
	pause.For(ctx, m.options.Gap)
	return f.Sub(began), l.Sub(began), nil
}

// Targets, of the design.
const (
	firstMoved         = 15  // ms
	allMoved           = 200 // ms
	allMovedBackground = 300 // ms
	timesFaster        = 3
	timesFasterLoaded  = 10
)

func (m *runner) result() bench.Result {
	out := bench.Result{Title: m.options.title(), About: m.options.about()}
	all, ratio := bench.AtMost(allMoved), bench.AtLeast(timesFaster)
	if m.options.Background > 0 {
		all, ratio = bench.AtMost(allMovedBackground), bench.AtLeast(timesFasterLoaded)
	}
	us := m.sides[0].record()
	for i, s := range m.sides {
		rec := s.record()
		first, last := bench.AtMost(firstMoved), all
		if i > 0 {
			first, last = nil, nil
		}
		out.AddDurations(s.name()+": first moved", first, slices.Concat(rec.first...))
		out.AddDurations(s.name()+": all moved", last, slices.Concat(rec.last...))
	}
	for i, s := range m.sides {
		if i == 0 {
			continue
		}
		target := ratio
		if s.(*ocm).limits != limitsLifted {
			target = nil
		}
		out.Add("times faster than "+s.name()+", first moved", bench.Times, nil, bench.Ratios(millis(s.record().first), millis(us.first))...)
		out.Add("times faster than "+s.name()+", all moved", bench.Times, target, bench.Ratios(millis(s.record().last), millis(us.last))...)
	}
	for _, s := range m.sides {
		m.sideNotes(&out, s)
	}
	if m.options.Scores > 1 {
		out.Comparison = m.options.comparison()
	}
	return out
}

func millis(blocks [][]time.Duration) [][]float64 {
	out := make([][]float64, len(blocks))
	for i, b := range blocks {
		out[i] = bench.Millis(b)
	}
	return out
}

// sideNotes adds what the processes did meanwhile.
func (m *runner) sideNotes(out *bench.Result, s side) {
	rec := s.record()
	for _, what := range []string{metricEvents, scoreEvents, hubWrites, hubScores, backgroundWrites} {
		if rates, ok := rec.rates[what]; ok {
			out.Add(s.name()+": "+what, bench.PerSecond, nil, rates...)
		}
	}
	for _, name := range s.deciders() {
		out.Add(s.name()+": "+name+": resident", bench.MiB, nil, rec.memory[name]...)
	}
	for _, name := range append([]string{stack.ProcessNATS, rig.Hub, "etcd", stack.ProcessOCM, rig.Bench}, rig.Services()...) {
		cores := rec.cores[name]
		if len(cores) == 0 || bench.Median(cores) < 0.005 {
			continue
		}
		percent := make([]float64, len(cores))
		for i, c := range cores {
			percent[i] = 100 * c
		}
		out.Add(s.name()+": CPU of "+name, bench.Percent, nil, percent...)
	}
}
