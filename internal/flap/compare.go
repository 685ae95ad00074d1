package flap

import (
	"fmt"
	"time"

	"github.com/spokewire/spokewire/internal/placement"
)

// Recommended is the policy that docs/placement.md recommends, for scores from
// -100 to 100 with weight 1.
func Recommended() map[string]string {
	return map[string]string{
		placement.AnnotationDeadBand:     "10",
		placement.AnnotationDecisiveLead: "50",
		placement.AnnotationWindow:       "5m",
		placement.AnnotationBudget:       "2/10m",
	}
}

// MovePrice is what a move costs, in points times minutes: as much as a
// cluster that is ten points worse for ten minutes.
const MovePrice = 100

// Result is what all traces gave by one policy.
type Result struct {
	Policy   Policy
	Outcomes []Outcome // in the order of the traces
}

// Moves counts those of one kind of traces.
func (r *Result) Moves(traces []Trace, kind string) (n int) {
	for i := range traces {
		if traces[i].Kind == kind {
			n += r.Outcomes[i].Moves
		}
	}
	return n
}

// Cost is the regret and the moves of all traces together.
func (r *Result) Cost() (cost float64) {
	for _, o := range r.Outcomes {
		cost += o.Regret + MovePrice*float64(o.Moves)
	}
	return cost
}

// Comparison is what was found.
type Comparison struct {
	Traces []Trace
	// Bare moves at once; Steady is OCM's at the weight that costs least of
	// all that OCM allows, Weights all of them; Recommended is ours.
	Bare, Steady, Recommended Result
	Weights                   []Result
}

// Compare replays every trace by every policy.
func Compare(traces []Trace) (*Comparison, error) {
	c := &Comparison{Traces: traces}
	var err error
	if c.Bare, err = replayAll(traces, Policy{Name: "at once", Weight: 1}); err != nil {
		return nil, err
	}
	if c.Recommended, err = replayAll(traces, Policy{Name: "recommended", Weight: 1, Annotations: Recommended()}); err != nil {
		return nil, err
	}
	for _, p := range steadyPolicies() {
		r, err := replayAll(traces, p)
		if err != nil {
			return nil, err
		}
		c.Weights = append(c.Weights, r)
		if c.Steady.Outcomes == nil || r.Cost() < c.Steady.Cost() {
			c.Steady = r
		}
	}
	return c, nil
}

// steadyPolicies are the ratios of two weights from 1 to 10 by which Steady
// counts no more than the score: beyond, nothing ever moves.
func steadyPolicies() []Policy {
	var out []Policy
	seen := map[int]bool{}
	for weight := 1; weight <= 10; weight++ {
		for steady := 1; steady <= weight; steady++ {
			if ratio := 2520 * steady / weight; !seen[ratio] {
				seen[ratio] = true
				out = append(out, Policy{Name: fmt.Sprintf("Steady %d, score %d", steady, weight), Weight: weight, Steady: steady})
			}
		}
	}
	return out
}

func replayAll(traces []Trace, p Policy) (Result, error) {
	r := Result{Policy: p}
	for i := range traces {
		o, err := Replay(&traces[i], p)
		if err != nil {
			return r, fmt.Errorf("%s by %s: %w", traces[i].Name, p.Name, err)
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	return r, nil
}

// Late counts the steps from which ours moved later than Steady.
func (c *Comparison) Late() (late int) {
	for i := range c.Traces {
		if c.Traces[i].Kind != KindStep {
			continue
		}
		for n, d := range c.Recommended.Outcomes[i].Delays {
			if d > c.Steady.Outcomes[i].Delays[n] {
				late++
			}
		}
	}
	return late
}

// Delays are those of one kind of traces.
func (r *Result) Delays(traces []Trace, kind string) (all []time.Duration) {
	for i := range traces {
		if traces[i].Kind == kind {
			all = append(all, r.Outcomes[i].Delays...)
		}
	}
	return all
}

// Summary is the one line that says how it went. Moves and steady count the
// noise traces, late the step traces.
func (c *Comparison) Summary() string {
	return fmt.Sprintf("flap: traces=%d moves=%d steady=%d late=%d",
		len(c.Traces), c.Recommended.Moves(c.Traces, KindNoise), c.Steady.Moves(c.Traces, KindNoise), c.Late())
}

// fewestMoves of Steady on noise are those of which a tenth is one.
const fewestMoves = 10

// Err says what is not as it must be.
func (c *Comparison) Err() error {
	moves, steady := c.Recommended.Moves(c.Traces, KindNoise), c.Steady.Moves(c.Traces, KindNoise)
	switch late := c.Late(); {
	case moves*10 > steady && steady < fewestMoves:
		return fmt.Errorf("%d moves on noise, and Steady's %d are too few to say whether that is much: take more traces", moves, steady)
	case moves*10 > steady:
		return fmt.Errorf("%d moves on noise, want at most a tenth of Steady's %d", moves, steady)
	case late > 0:
		return fmt.Errorf("later than Steady on %d steps, want none", late)
	}
	return nil
}
