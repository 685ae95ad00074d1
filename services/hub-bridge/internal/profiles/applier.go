// Package profiles keeps a ClusterProfile for each ManagedCluster in each
// namespace where a set of it is bound, unless OCM's own copier does.
package profiles

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from and written to the hub for ClusterProfiles.
type Hub interface {
	Clusters() []*clusterv1.ManagedCluster
	ClusterSet(name string) *clusterv1beta2.ManagedClusterSet
	Bindings() map[string][]*clusterv1beta2.ManagedClusterSetBinding
	Profiles(namespace string) []*sig.ClusterProfile
	ManagedBy(manager string) []*sig.ClusterProfile

	CreateProfile(context.Context, *sig.ClusterProfile) (*sig.ClusterProfile, error)
	UpdateProfile(context.Context, *sig.ClusterProfile) (*sig.ClusterProfile, error)
	UpdateProfileStatus(context.Context, *sig.ClusterProfile) (*sig.ClusterProfile, error)
	DeleteProfile(context.Context, *sig.ClusterProfile) error
}

// Options are the parts of an Applier. All are needed.
type Options struct {
	Hub Hub
	Log *slog.Logger
	// Urgent is what profiles step back for.
	Urgent *work.Gate
}

// Applier writes the ClusterProfiles of the namespaces that change.
type Applier struct {
	Options
	queue *work.Queue

	mu     sync.Mutex
	copier string            // a profile of OCM's copier, "" where it is off
	taken  map[string]string // what was last said of each namespace
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	return &Applier{Options: o, queue: queue, taken: map[string]string{}}
}

// Changed asks for a look at a namespace; "" is for all: a cluster or a set
// has changed.
func (a *Applier) Changed(namespace string) {
	if namespace != "" && !a.turned() {
		a.queue.Add(namespace)
		return
	}
	for namespace := range a.Hub.Bindings() {
		a.queue.Add(namespace)
	}
	for _, p := range a.Hub.ManagedBy(bridge.ManagedBy) {
		a.queue.Add(p.Namespace)
	}
}

// Run writes profiles until ctx ends. The hub's caches must be synced.
func (a *Applier) Run(ctx context.Context, workers int) {
	a.Changed("")
	a.queue.Run(ctx, workers, a.handle)
}

// Detail says whether OCM's copier stands in the way.
func (a *Applier) Detail() string {
	a.turned()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.copier == "" {
		return "written by Spokewire"
	}
	return "left to OCM, which keeps " + a.copier
}

// turned looks whether OCM's copier is on, and reports whether that is news.
func (a *Applier) turned() bool {
	copier := ""
	if p := bridge.CopiedByOCM(a.Hub.ManagedBy(bridge.ManagerOCM)); p != nil {
		copier = p.Namespace + "/" + p.Name
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	news := (a.copier == "") != (copier == "")
	if news && copier != "" {
		a.Log.Warn("OCM's own copier keeps ClusterProfiles: Spokewire writes none and withdraws its own; turn off one of both (OCM's feature gate ClusterProfile, or --write-cluster-profiles)", "profile", copier)
	}
	if news && copier == "" {
		a.Log.Info("OCM keeps no ClusterProfiles: Spokewire writes them")
	}
	a.copier = copier
	return news
}

// yieldMost is how long a profile waits for decisions to be written.
const yieldMost = 50 * time.Millisecond

// handle brings a namespace to what it should hold. A write that came too
// late is planned anew.
func (a *Applier) handle(ctx context.Context, namespace string) (time.Duration, error) {
	if a.turned() {
		a.Changed("")
	}
	var clusters map[string]*clusterv1.ManagedCluster
	if len(a.Hub.ManagedBy(bridge.ManagerOCM)) == 0 {
		clusters = bridge.BoundClusters(a.Hub.Bindings()[namespace], a.Hub.ClusterSet, a.Hub.Clusters())
	}
	plan := bridge.PlanProfiles(namespace, clusters, a.Hub.Profiles(namespace))
	a.say(namespace, plan.Taken)
	var last *sig.ClusterProfile
	refused := ""
	for _, step := range plan.Steps {
		if step.Profile.Name == refused {
			continue
		}
		a.Urgent.Yield(ctx, yieldMost)
		written, err := a.write(ctx, step, last)
		if refusal := kube.Refusal(err); refusal != nil {
			a.Log.Warn("the hub refuses a ClusterProfile", "namespace", namespace, "name", step.Profile.Name, "field", refusal.Field, "error", err)
			refused = step.Profile.Name
			continue
		}
		if kube.NoNamespace(err) {
			return 0, nil // it is going, and its binding with it
		}
		if err != nil {
			return 0, fmt.Errorf("namespace %s: %w", namespace, err)
		}
		last = written
	}
	return 0, nil
}

// write makes one step. last is what the step before wrote: a status follows
// its object.
func (a *Applier) write(ctx context.Context, step bridge.ProfileStep, last *sig.ClusterProfile) (*sig.ClusterProfile, error) {
	p := step.Profile.DeepCopy()
	if last != nil && last.Name == p.Name {
		p.ResourceVersion, p.UID = last.ResourceVersion, last.UID
	}
	switch {
	case step.Delete:
		return nil, a.Hub.DeleteProfile(ctx, p)
	case step.Create:
		return a.Hub.CreateProfile(ctx, p)
	case step.Status:
		return a.Hub.UpdateProfileStatus(ctx, p)
	}
	return a.Hub.UpdateProfile(ctx, p)
}

// say logs once which names other managers have.
func (a *Applier) say(namespace string, taken []string) {
	names := strings.Join(taken, ", ")
	a.mu.Lock()
	news := names != a.taken[namespace]
	a.taken[namespace] = names
	if names == "" {
		delete(a.taken, namespace)
	}
	a.mu.Unlock()
	if news && names != "" {
		a.Log.Warn("ClusterProfiles of other cluster managers have the names of ManagedClusters; they stay as they are", "namespace", namespace, "names", names)
	}
}
