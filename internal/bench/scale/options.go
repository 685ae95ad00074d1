package scale

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/bound"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Options of a run.
type Options struct {
	// Scores is how many each cluster has; the Placements read one each, in
	// turn.
	Clusters, Series, Scores, Placements, Restarts int
	// ScoreBudget is how many scores a second the bridge writes; the default
	// of the bridge is 200.
	ScoreBudget int
}

// DefaultOptions are those of the target.
func DefaultOptions() Options {
	return Options{Clusters: 10_000, Series: 50, Scores: 1, Placements: 100, Restarts: 3, ScoreBudget: 400}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Clusters, "clusters", o.Clusters, "clusters of the fleet")
	fs.IntVar(&o.Series, "series", o.Series, "series of each cluster")
	fs.IntVar(&o.Scores, "scores", o.Scores, "scores of each cluster, one a series, of which each Placement reads one, in turn")
	fs.IntVar(&o.Placements, "placements", o.Placements, "Placements, each for the one cluster with the best score")
	fs.IntVar(&o.Restarts, "restarts", o.Restarts, "how often the services are killed")
	fs.IntVar(&o.ScoreBudget, "score-budget", o.ScoreBudget, "scores that the bridge writes a second")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	return cmp.Or(
		bound.AtLeast("--clusters", o.Clusters, 3),
		bound.Within("--series", o.Series, 1, schemas.MaxSamples),
		bound.Within("--scores", o.Scores, 1, o.Series),
		bound.AtLeast("--placements", o.Placements, 1),
		bound.AtLeast("--restarts", o.Restarts, 0),
		bound.AtLeast("--score-budget", o.ScoreBudget, 1),
	)
}

func (o Options) title() string {
	scores := ""
	if o.Scores > 1 {
		scores = fmt.Sprintf(" and %d scores", o.Scores)
	}
	return fmt.Sprintf("%d clusters of %d series%s each, %d Placements", o.Clusters, o.Series, scores, o.Placements)
}
