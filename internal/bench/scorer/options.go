package scorer

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bound"
)

// Options of a run.
type Options struct {
	Clusters, Samples int
	// Events are published a round, Rounds times.
	Events, Rounds int
	// Changes is which share of the events changes a score.
	Changes float64
	// Rate is how many events a second are published in the live part, for
	// as long as Live.
	Rate int
	Live time.Duration
	// Pin keeps what is measured on one processor, the last.
	Pin bool
}

// DefaultOptions are those of the target.
func DefaultOptions() Options {
	return Options{Clusters: 16_000, Samples: 10, Events: 30_000, Rounds: 7, Changes: 0.035, Rate: 10_000, Live: 10 * time.Second, Pin: true}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Clusters, "clusters", o.Clusters, "clusters that send metrics")
	fs.IntVar(&o.Samples, "samples", o.Samples, "samples of an event")
	fs.IntVar(&o.Events, "events", o.Events, "events of a round")
	fs.IntVar(&o.Rounds, "rounds", o.Rounds, "how often the scorer and the consumer are measured in turn")
	fs.Float64Var(&o.Changes, "changes", o.Changes, "share of the events that change a score")
	fs.IntVar(&o.Rate, "rate", o.Rate, "events a second in the live part")
	fs.DurationVar(&o.Live, "live", o.Live, "how long the live part takes")
	fs.BoolVar(&o.Pin, "pin", o.Pin, "keep what is measured on one processor (with taskset)")
}

// backlog is how many events wait at least before a scorer skips, unless they
// are fewer than two a cluster: it would then not read what is counted.
const backlog = 1000

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	err := cmp.Or(
		bound.AtLeast("--clusters", o.Clusters, 1),
		bound.AtLeast("--samples", o.Samples, 1),
		bound.AtLeast("--events", o.Events, 1),
		bound.AtLeast("--rounds", o.Rounds, 1),
		bound.AtLeast("--rate", o.Rate, 1),
		bound.Within("--changes", o.Changes, 0, 1),
		bound.AtLeast("--live", o.Live, time.Second),
	)
	if most := max(backlog, 2*o.Clusters) - 1; err == nil && o.Events > most {
		return fmt.Errorf("--events is %d, want at most %d: with two or more of a cluster waiting the scorer reads only the newest", o.Events, most)
	}
	return err
}

func (o Options) every() int {
	if o.Changes == 0 {
		return 0
	}
	return max(1, int(1/o.Changes))
}
