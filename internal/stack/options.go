package stack

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/spokewire/spokewire/internal/hub"
)

// What --hub and --nats may say instead of a path or a URL.
const (
	Embedded = "embedded"
	None     = "none"
)

// maxSpokes bounds the spokes of a local stack: each is two processes.
const maxSpokes = 100

// Options of a local stack.
type Options struct {
	// Executable is the spokewire program that the processes run.
	Executable string
	// ServiceDir, if set, is where the services' own programs are; those that
	// are there are run instead.
	ServiceDir string
	// BinDir holds the hub's programs, see package hub.
	BinDir  string
	DataDir string
	// Spokes is how many clusters to create, each with a workload and a
	// collector. -1 means three on an embedded hub and none elsewhere.
	Spokes int
	// Hub is Embedded, None or the path of a kubeconfig.
	Hub string
	// BridgeKubeconfig is that of hub-bridge on a hub that exists already. ""
	// means Hub's own.
	BridgeKubeconfig string
	// NATS is Embedded or a URL.
	NATS string
	// Servers is how many NATS servers the embedded NATS is: 1, or 3 to 5 that
	// each hold every stream. 0 means 1.
	Servers int
	// Replicas is how many of each hub service run. 0 means 1.
	Replicas int
	// Detours lead some connections another way.
	Detours Detours
	// OCM runs OCM's own placement controller beside ours.
	OCM bool
	// SIG has the bridge of an embedded hub write SIG-Multicluster's
	// PlacementDecisions and ClusterProfiles too.
	SIG bool
	// Prometheus runs one in each cluster, for dynamic scorers to query.
	Prometheus bool
	// Interval is how often a spoke's collector scrapes.
	Interval time.Duration
	// Args are added to the command line of our processes, by their name.
	Args map[string][]string
	Log  *slog.Logger
	// Progress is told of each step, in a few words.
	Progress func(step string)
}

// DefaultOptions is a stack with everything on board. Executable, BinDir,
// Log and Progress are the caller's.
func DefaultOptions() Options {
	return Options{DataDir: DefaultDataDir(), Spokes: -1, Hub: Embedded, NATS: Embedded, Interval: time.Second}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.DataDir, "data", o.DataDir, "directory of the stack's state, logs and credentials")
	fs.IntVar(&o.Spokes, "spokes", o.Spokes, "clusters to create, each with a workload and a collector (-1: 3 on an embedded hub, none elsewhere)")
	fs.StringVar(&o.Hub, "hub", o.Hub, "embedded, none, or the path of a hub's kubeconfig")
	fs.StringVar(&o.BridgeKubeconfig, "bridge-kubeconfig", o.BridgeKubeconfig, "kubeconfig of hub-bridge on an existing hub, such as one with no other rights than those of deploy/k8s/hub-bridge (default: that of --hub)")
	fs.StringVar(&o.NATS, "nats", o.NATS, "embedded, or the URL of a NATS server with JetStream")
	fs.BoolVar(&o.OCM, "ocm", o.OCM, "run OCM's own placement controller too")
	fs.BoolVar(&o.SIG, "sig", o.SIG, "write SIG-Multicluster's PlacementDecisions and ClusterProfiles too (embedded hub)")
	fs.BoolVar(&o.Prometheus, "prometheus", o.Prometheus, "run a Prometheus in each cluster too, which dynamic scorers can query")
	fs.DurationVar(&o.Interval, "interval", o.Interval, "how often the spokes' collectors scrape")
}

// Validate names the flag that is wrong.
func (o Options) Validate() error {
	switch {
	case o.Spokes < -1 || o.Spokes > maxSpokes:
		return fmt.Errorf("--spokes is %d, want 0 to %d", o.Spokes, maxSpokes)
	case o.DataDir == "":
		return errors.New("--data is empty, and there is no home directory to take its place: name a directory")
	case o.Interval < 10*time.Millisecond:
		return fmt.Errorf("--interval is %s, want at least 10ms", o.Interval)
	case o.Servers < 0 || o.Servers == 2 || o.Servers > 5:
		return fmt.Errorf("%d NATS servers, want 1, or 3 to 5", o.Servers)
	case o.Replicas < 0 || o.Replicas > 5:
		return fmt.Errorf("%d replicas, want 1 to 5", o.Replicas)
	case o.OCM && o.Hub == None:
		return fmt.Errorf("--ocm needs a hub, but --hub is none")
	case o.SIG && o.Hub != Embedded:
		return fmt.Errorf("--sig is for an embedded hub, but --hub is %s: docs/interoperability.md says what another one needs", o.Hub)
	case o.BridgeKubeconfig != "" && (o.Hub == None || o.Hub == Embedded):
		return fmt.Errorf("--bridge-kubeconfig is for an existing hub, but --hub is %s", o.Hub)
	case o.NATS == "" || o.Hub == "":
		return fmt.Errorf("--nats and --hub must not be empty")
	}
	if o.Prometheus {
		if _, err := os.Stat(prometheusIn(o.BinDir)); err != nil {
			return fmt.Errorf("--prometheus: %w: run 'make tools' in the repository", err)
		}
	}
	if o.Hub == Embedded {
		return hub.In(o.BinDir).Validate()
	}
	return nil
}

func (o Options) spokes() int {
	switch {
	case o.Spokes >= 0:
		return o.Spokes
	case o.Hub == Embedded:
		return 3
	}
	return 0
}
