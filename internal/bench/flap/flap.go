// Package flap measures flap control: what the recommended policy moves, and
// what staying costs, beside OCM's Steady, on traces of scores.
package flap

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/flap"
)

// Options of a run.
type Options struct {
	Seed uint64
	// Traces is how many of each kind are generated.
	Traces int
}

// DefaultOptions are those of the target.
func DefaultOptions() Options { return Options{Seed: 1, Traces: 20} }

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.Uint64Var(&o.Seed, "seed", o.Seed, "makes other traces")
	fs.IntVar(&o.Traces, "traces", o.Traces, "how many traces of each kind are generated")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error { return bound.Within("--traces", o.Traces, 1, 1000) }

// Run compares. Its result's Failure says what is not as it must be.
func Run(_ context.Context, env rig.Env, o Options) (bench.Result, error) {
	recorded, err := flap.Recorded()
	if err != nil {
		return bench.Result{}, err
	}
	traces := append(flap.Generate(o.Seed, o.Traces), recorded...)
	fmt.Fprintf(env.Progress, "replaying %d traces\n", len(traces))
	c, err := flap.Compare(traces)
	if err != nil {
		return bench.Result{}, err
	}
	return resultOf(c), nil
}

func resultOf(c *flap.Comparison) bench.Result {
	out := bench.Result{Title: "Flap control: moves against regret, beside OCM's Steady", About: about(c), Summary: c.Summary()}
	if err := c.Err(); err != nil {
		out.Failure = err.Error()
	}
	steady := float64(c.Steady.Moves(c.Traces, flap.KindNoise))
	out.Add("noise: moves in all, Steady", bench.Count, nil, steady)
	out.Add("noise: moves in all, recommended", bench.Count, bench.AtMost(steady/10), float64(c.Recommended.Moves(c.Traces, flap.KindNoise)))
	out.Add("step: later than Steady", bench.Count, bench.AtMost(0), float64(c.Late()))
	out.Add("all: regret and moves, Steady", unit, nil, c.Steady.Cost())
	out.Add("all: regret and moves, recommended", unit, nil, c.Recommended.Cost())
	for _, kind := range []string{flap.KindNoise, flap.KindSwing, flap.KindDrift, flap.KindStep, flap.KindSmallStep, flap.KindRecorded} {
		for _, r := range []struct {
			name   string
			result *flap.Result
		}{{"at once", &c.Bare}, {"Steady", &c.Steady}, {"recommended", &c.Recommended}} {
			addKind(&out, c.Traces, kind, r.name, r.result)
		}
	}
	return out
}

const unit = "points·min"

func addKind(out *bench.Result, traces []flap.Trace, kind, name string, r *flap.Result) {
	var moves, regret, delays []float64
	for i := range traces {
		if traces[i].Kind == kind {
			moves, regret = append(moves, float64(r.Outcomes[i].Moves)), append(regret, r.Outcomes[i].Regret)
		}
	}
	out.Add(fmt.Sprintf("%s: moves, %s", kind, name), bench.Count, nil, moves...)
	out.Add(fmt.Sprintf("%s: regret, %s", kind, name), unit, nil, regret...)
	for _, d := range r.Delays(traces, kind) {
		delays = append(delays, d.Seconds())
	}
	if len(delays) > 0 {
		out.Add(fmt.Sprintf("%s: delay, %s", kind, name), bench.Seconds, nil, delays...)
	}
}

func about(c *flap.Comparison) []string {
	return []string{
		"In memory, without the bus: traces of the scores of a few clusters go through the deciding core, for a Placement that selects one. Regret is by how much the selected cluster was worth less than the best, times minutes; worth is the score without its noise.",
		"*noise*: nobody is better for long; *swing*: the best changes back and forth; *drift*: it changes slowly; *step*: the best falls by 85 to 100 points; *smallstep*: by 30 to 60; *recorded*: from real Prometheus servers.",
		fmt.Sprintf("*at once* has neither flap control nor Steady. *Steady* is OCM's prioritizer with the weights (%s) that cost least over all traces of all that OCM allows, where a move costs %d points·min. *recommended* is the policy of [placement.md](placement.md).", c.Steady.Policy.Name, flap.MovePrice),
	}
}
