// Package app builds and runs the hub-bridge.
package app

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/spokewire/spokewire/internal/process"
)

// Options are the settings of the hub-bridge.
type Options struct {
	Bus process.BusOptions
	// Kubeconfig is the path of the hub's; empty means $KUBECONFIG or, in a
	// pod, its service account.
	Kubeconfig string
	// Config, if set, is used instead of Kubeconfig.
	Config *rest.Config
	// QPS and Burst bound the calls of the API server, for reading and for
	// writing each.
	QPS   float32
	Burst int
	// Workers is how many decisions are applied at a time.
	Workers int
	// ScoreBudget is how many scores are written to the hub a second.
	ScoreBudget float64
	// ScoreMargin is how far ahead the validUntil of a score on the hub is
	// set at least: for that long a score outlives a bridge that is down.
	ScoreMargin time.Duration
	// ExplanationBudget is how many decisions a second are explained on the
	// hub, by an Event and a condition each.
	ExplanationBudget float64
	// Slices writes SIG-Multicluster's PlacementDecisions beside OCM's,
	// Profiles its ClusterProfiles of ManagedClusters.
	Slices, Profiles bool
	// Inventory is a namespace whose ClusterProfiles are clusters where there
	// is no ManagedCluster of their name; "" for none.
	Inventory string
	// LeaderElect lets only the holder of a Lease in Namespace write.
	LeaderElect bool
	Namespace   string
	// Identity is this replica's name in the Lease. It stays the same over
	// restarts, so that a restarted process goes on at once, and no two
	// running replicas share one.
	Identity string
}

// DefaultOptions are those of a hub of 10,000 clusters.
func DefaultOptions() Options {
	identity, err := os.Hostname()
	if err != nil {
		identity = ""
	}
	return Options{
		Bus: process.DefaultBusOptions(), QPS: 500, Burst: 1000, Workers: 16,
		ScoreBudget: 200, ScoreMargin: 5 * time.Minute, ExplanationBudget: 20,
		LeaderElect: true, Namespace: "spokewire", Identity: identity,
	}
}

// AddFlags adds the options to fs.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.Bus.AddFlags(fs)
	fs.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "kubeconfig of the hub (default $KUBECONFIG, or the pod's service account)")
	fs.Float32Var(&o.QPS, "hub-qps", o.QPS, "calls of the API server a second, for reading and for writing each")
	fs.IntVar(&o.Burst, "hub-burst", o.Burst, "calls of the API server at once, for reading and for writing each")
	fs.IntVar(&o.Workers, "workers", o.Workers, "decisions applied at a time")
	fs.Float64Var(&o.ScoreBudget, "score-budget", o.ScoreBudget, "scores written to the hub a second")
	fs.DurationVar(&o.ScoreMargin, "score-margin", o.ScoreMargin, "how far ahead a score's validUntil on the hub is set at least")
	fs.Float64Var(&o.ExplanationBudget, "explanation-budget", o.ExplanationBudget, "decisions explained on the hub a second, by an Event and a condition each")
	fs.BoolVar(&o.Slices, "sig-placement-decisions", o.Slices, "write SIG-Multicluster's PlacementDecisions (multicluster.x-k8s.io) beside OCM's")
	fs.BoolVar(&o.Profiles, "write-cluster-profiles", o.Profiles, "write SIG-Multicluster's ClusterProfiles of ManagedClusters, unless OCM itself does")
	fs.StringVar(&o.Inventory, "inventory", o.Inventory, "namespace whose ClusterProfiles are clusters where there is no ManagedCluster of their name")
	fs.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "write only while holding the Lease")
	fs.StringVar(&o.Namespace, "namespace", o.Namespace, "namespace of the Lease")
	fs.StringVar(&o.Identity, "identity", o.Identity, "name of this replica in the Lease: stable, and its own (default the host's name)")
}

// Validate names the option that makes no sense. The bus is checked when it
// is connected to.
func (o Options) Validate() error {
	switch {
	case o.QPS <= 0:
		return fmt.Errorf("--hub-qps is %g, want more than 0", o.QPS)
	case o.Burst < 1:
		return fmt.Errorf("--hub-burst is %d, want at least 1", o.Burst)
	case o.Workers < 1:
		return fmt.Errorf("--workers is %d, want at least 1", o.Workers)
	case o.ScoreBudget <= 0:
		return fmt.Errorf("--score-budget is %g, want more than 0", o.ScoreBudget)
	case o.ScoreMargin < minMargin:
		return fmt.Errorf("--score-margin is %s, want at least %s (the hub keeps whole seconds)", o.ScoreMargin, minMargin)
	case o.ExplanationBudget <= 0:
		return fmt.Errorf("--explanation-budget is %g, want more than 0", o.ExplanationBudget)
	case o.LeaderElect && o.Namespace == "":
		return errors.New("--namespace is empty: name that of the Lease, or set --leader-elect=false")
	case o.LeaderElect && o.Identity == "":
		return errors.New("--identity is empty: name this replica, or set --leader-elect=false")
	}
	return nil
}

const minMargin = 3 * time.Second

// config is the hub's, with the limits of o.
func (o Options) config() (*rest.Config, error) {
	config := o.Config
	if config == nil {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = o.Kubeconfig
		loaded, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("the hub's kubeconfig (--kubeconfig or $KUBECONFIG): %w", err)
		}
		config = loaded
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = o.QPS, o.Burst
	config.UserAgent = "spokewire-hub-bridge"
	return config, nil
}
