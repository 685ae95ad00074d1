// Package move measures how long it takes from a metric, or from a score on
// the hub, until PlacementDecisions have moved.
package move

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/access"
	"github.com/spokewire/spokewire/internal/bench"
	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// What the background's scores are.
const (
	// Placed: the very score that the Placements read, of other clusters.
	Placed = "placed"
	// Other: a score that no Placement reads.
	Other = "other"
)

// Options of a run.
type Options struct {
	Clusters, Placements int
	// Scores is how many each cluster has; the Placements read one each, in
	// turn, and those that read the first move.
	Scores int
	// Rounds is how often the winner changes on each side, Blocks in how
	// many turns.
	Rounds, Blocks int
	// Background is how many metric events a second are published meanwhile,
	// of Samples samples each; ScoreWrites how many scores change a second:
	// by those events on our side, by writes to the hub on OCM's.
	Background, Samples, ScoreWrites int
	BackgroundScore                  string
	// HubScores has our scores written to the hub too, which direct
	// Placements do not need.
	HubScores bool
	// OCM measures OCM's placement controller too, with these limits of its
	// client: default, lifted.
	OCM    bool
	OCMQPS []string
	// Gap is the pause between two rounds.
	Gap time.Duration
	// Patience is how long a round may take.
	Patience time.Duration
}

// DefaultOptions are a small idle run.
func DefaultOptions() Options {
	return Options{
		Clusters: 100, Placements: 100, Scores: 1, Rounds: 20, Blocks: 2, Samples: 10, ScoreWrites: 350,
		BackgroundScore: Placed, HubScores: true, OCMQPS: []string{limitsDefault, limitsLifted},
		Gap: 250 * time.Millisecond, Patience: time.Minute,
	}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Clusters, "clusters", o.Clusters, "clusters of the fleet")
	fs.IntVar(&o.Placements, "placements", o.Placements, "Placements on each side, each for the one cluster with the best score")
	fs.IntVar(&o.Scores, "scores", o.Scores, "scores of each cluster, of which each Placement reads one, in turn; those that read the first move")
	fs.IntVar(&o.Rounds, "rounds", o.Rounds, "how often the winner changes, on each side")
	fs.IntVar(&o.Blocks, "blocks", o.Blocks, "in how many turns the sides are measured")
	fs.IntVar(&o.Background, "background", o.Background, "metric events a second of the other clusters meanwhile")
	fs.IntVar(&o.Samples, "samples", o.Samples, "samples of a background event")
	fs.IntVar(&o.ScoreWrites, "score-writes", o.ScoreWrites, "scores that the background changes a second; on OCM's side by writes to the hub")
	fs.StringVar(&o.BackgroundScore, "background-score", o.BackgroundScore, "whether the background changes the score that the Placements read (placed) or another one (other)")
	fs.BoolVar(&o.HubScores, "hub-scores", o.HubScores, "write our scores to the hub too, which direct Placements do not need")
	fs.BoolVar(&o.OCM, "ocm", o.OCM, "measure OCM's placement controller in the same run")
	fs.StringSliceVar(&o.OCMQPS, "ocm-qps", o.OCMQPS, "its client's limits: default, lifted or both")
	fs.DurationVar(&o.Gap, "gap", o.Gap, "pause between two rounds")
	fs.DurationVar(&o.Patience, "patience", o.Patience, "how long a round may take")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	err := cmp.Or(
		bound.AtLeast("--clusters", o.Clusters, 3),
		bound.AtLeast("--placements", o.Placements, 1),
		bound.Within("--scores", o.Scores, 1, schemas.MaxSamples),
		bound.AtLeast("--blocks", o.Blocks, 1),
		bound.AtLeast("--background", o.Background, 0),
		bound.AtLeast("--score-writes", o.ScoreWrites, 0),
		bound.AtLeast("--samples", o.Samples, 1),
	)
	switch {
	case err != nil:
		return err
	case o.Scores > 1 && o.Background > 0:
		return fmt.Errorf("--scores is %d, want 1 with --background", o.Scores)
	case o.Rounds < o.Blocks:
		return fmt.Errorf("--rounds is %d and --blocks %d, want at least one round a block", o.Rounds, o.Blocks)
	case o.ScoreWrites > o.Background && o.Background > 0:
		return fmt.Errorf("--background is %d and --score-writes %d, want at most one score an event", o.Background, o.ScoreWrites)
	case o.BackgroundScore != Placed && o.BackgroundScore != Other:
		return fmt.Errorf("--background-score is %q, want %s or %s", o.BackgroundScore, Placed, Other)
	}
	for _, limits := range o.OCMQPS {
		if ocmLimits(limits) == nil {
			return fmt.Errorf("--ocm-qps is %q, want %s or %s", limits, limitsDefault, limitsLifted)
		}
	}
	return nil
}

const (
	limitsDefault = "default"
	limitsLifted  = "lifted"
)

// ocmLimits are the flags of OCM's placement controller for its client.
func ocmLimits(name string) []string {
	switch name {
	case limitsDefault:
		return []string{"--kube-api-qps", "50", "--kube-api-burst", "100"}
	case limitsLifted:
		return []string{"--kube-api-qps", "100000", "--kube-api-burst", "100000"}
	}
	return nil
}

func (o Options) title() string {
	text := fmt.Sprintf("Move %d Placements among %d clusters, ", o.Placements, o.Clusters)
	if o.Scores > 1 {
		text = fmt.Sprintf("Move %d of %d Placements among %d clusters of %d scores each, ", o.moving(), o.Placements, o.Clusters, o.Scores)
	}
	if o.Background == 0 {
		return text + "idle"
	}
	text += fmt.Sprintf("%d metric events/s in the background", o.Background)
	if !o.HubScores {
		text += ", our scores kept off the hub"
	}
	return text
}

// comparison is the run's row among those of many scores.
func (o Options) comparison() *bench.Comparison {
	c := &bench.Comparison{
		Title: "Sizes, beside OCM",
		Row:   fmt.Sprintf("%d clusters of %d scores, %d Placements", o.Clusters, o.Scores, o.Placements),
		Columns: []bench.Column{
			{Title: "Spokewire: first", Measure: "Spokewire: first moved"}, {Title: "all", Measure: "Spokewire: all moved"},
			{Title: access.PlacementWriter, Measure: "Spokewire: " + access.PlacementWriter + ": resident"},
		},
	}
	for _, limits := range []string{limitsDefault, limitsLifted} {
		name := ocmName(limits)
		c.Columns = append(c.Columns,
			bench.Column{Title: "OCM, limits " + limits + ": first", Measure: name + ": first moved"}, bench.Column{Title: "all", Measure: name + ": all moved"},
			bench.Column{Title: "controller", Measure: name + ": " + stack.ProcessOCM + ": resident"},
		)
	}
	return c
}

// moving is how many Placements read the score that changes.
func (o Options) moving() int { return (o.Placements + o.Scores - 1) / o.Scores }

func (o Options) about() []string {
	lines := []string{
		fmt.Sprintf("One metric event changes the score of one cluster, and with it the best cluster of each of %d direct Placements.", o.moving()),
		"Time runs from just before the publish on NATS until a watch on the API server has shown the first and the last changed PlacementDecision.",
	}
	if o.HubScores {
		lines = append(lines, "Our scores are written to the hub as AddOnPlacementScores too, within the bridge's budget, though direct Placements do not need that.")
	}
	if o.OCM {
		lines = append(lines, fmt.Sprintf("OCM's controller (--kube-api-qps 50 and --kube-api-burst 100 by default, or both lifted to 100000) decides as many native Placements from AddOnPlacementScores; time runs from just before one of them is written. The sides take %d turns each; while one is measured, the processes of the other are stopped.", o.Blocks))
	}
	if o.Scores > 1 {
		lines = append(lines, fmt.Sprintf("The other Placements read other scores: %d scorers, and as many AddOnPlacementScores of each cluster on OCM's side, hold up to %d of the %d.", (o.Scores+rig.ItemsEach-1)/rig.ItemsEach, rig.ItemsEach, o.Scores))
	}
	if o.Background == 0 {
		return lines
	}
	what := "the score that the Placements read, of clusters that do not win"
	if o.BackgroundScore == Other {
		what = "a score that no Placement reads"
	}
	lines = append(lines, fmt.Sprintf("Meanwhile one client publishes %d events/s of %d samples, in turn for each other cluster, and waits for their acknowledgements. The scorer evaluates each of them; %d a second change %s.", o.Background, o.Samples, o.ScoreWrites, what))
	if o.OCM {
		lines = append(lines, fmt.Sprintf("On OCM's side, %d AddOnPlacementScores a second are written to the hub instead, which change the same.", o.ScoreWrites))
	}
	return lines
}
