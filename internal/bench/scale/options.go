package scale

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/pkg/schemas"
)

// Options of a run.
type Options struct {
	Clusters, Series, Placements, Restarts int
	// ScoreBudget is how many scores a second the bridge writes; the default
	// of the bridge is 200.
	ScoreBudget int
}

// DefaultOptions are those of the target.
func DefaultOptions() Options {
	return Options{Clusters: 10_000, Series: 50, Placements: 100, Restarts: 3, ScoreBudget: 400}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.Clusters, "clusters", o.Clusters, "clusters of the fleet")
	fs.IntVar(&o.Series, "series", o.Series, "series of each cluster")
	fs.IntVar(&o.Placements, "placements", o.Placements, "Placements, each for the one cluster with the best score")
	fs.IntVar(&o.Restarts, "restarts", o.Restarts, "how often the services are killed")
	fs.IntVar(&o.ScoreBudget, "score-budget", o.ScoreBudget, "scores that the bridge writes a second")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	switch {
	case o.Clusters < 3:
		return fmt.Errorf("--clusters is %d, want at least 3", o.Clusters)
	case o.Series < 1 || o.Series > schemas.MaxSamples:
		return fmt.Errorf("--series is %d, want 1 to %d", o.Series, schemas.MaxSamples)
	case o.Placements < 1 || o.Restarts < 0 || o.ScoreBudget < 1:
		return errors.New("--placements and --score-budget must be at least 1, --restarts at least 0")
	}
	return nil
}
