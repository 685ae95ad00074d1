// Package slices keeps, for each Placement, the PlacementDecisions of
// SIG-Multicluster beside those of OCM.
package slices

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from and written to the hub for slices.
type Hub interface {
	Names(kind string) []kube.Change
	Placement(namespace, name string) *clusterv1beta1.Placement
	Pages(namespace, placement string) []*clusterv1beta1.PlacementDecision
	Slices(namespace, placement string) []*sig.PlacementDecision
	ProfileOf(namespace, cluster string) sig.ClusterProfileReference

	CreateSlice(context.Context, *sig.PlacementDecision) (*sig.PlacementDecision, error)
	UpdateSlice(context.Context, *sig.PlacementDecision) (*sig.PlacementDecision, error)
	DeleteSlice(context.Context, *sig.PlacementDecision) error
}

// Refusal is why slices of a Placement are not what its PlacementDecisions
// say.
type Refusal struct {
	Namespace, Name string // of the Placement
	Reason, Message string
}

// Options are the parts of an Applier. All are needed.
type Options struct {
	Hub Hub
	// Decision returns the last decision for a Placement, nil for none. It
	// is false while the bus is out of reach and nobody knows.
	Decision func(namespace, placement string) (*schemas.PlacementDecision, bool)
	// Refuse is called once for each Placement and reason.
	Refuse func(context.Context, Refusal)
	Log    *slog.Logger
	// Urgent is what slices step back for.
	Urgent *work.Gate
}

// Applier writes the slices of the Placements that change.
type Applier struct {
	Options
	queue *work.Queue

	mu      sync.Mutex
	refused map[string]string // the last refusal of each Placement
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	return &Applier{Options: o, queue: queue, refused: map[string]string{}}
}

// Changed asks for a look at the slices of a Placement.
func (a *Applier) Changed(namespace, placement string) { a.queue.Add(namespace + "/" + placement) }

// Run writes slices until ctx ends. The hub's caches must be synced.
func (a *Applier) Run(ctx context.Context, workers int) {
	for _, kind := range []string{events.KindPlacement, kube.KindSlice} {
		for _, c := range a.Hub.Names(kind) {
			a.Changed(c.Namespace, c.Name)
		}
	}
	a.queue.Run(ctx, workers, a.handle)
}

const (
	// yieldMost is how long a slice waits for PlacementDecisions to be
	// written.
	yieldMost = 50 * time.Millisecond
	// lookAgain is how long to wait while the bus is out of reach.
	lookAgain = time.Second
)

// handle brings the slices of a Placement to what its PlacementDecisions
// say. A write that came too late is planned anew.
func (a *Applier) handle(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, _ := strings.Cut(key, "/")
	a.Urgent.Yield(ctx, yieldMost)
	decision, known := a.Decision(namespace, name)
	if !known {
		return lookAgain, nil
	}
	p, pages := a.Hub.Placement(namespace, name), a.Hub.Pages(namespace, name)
	chosen := bridge.ChosenFor(p, decision, pages)
	if chosen != nil && placement.Overlap(p.Annotations) > 0 {
		chosen.Keep(p, pages)
	}
	plan := bridge.PlanSlices(name, p, chosen, a.Hub.Slices(namespace, name),
		func(cluster string) sig.ClusterProfileReference { return a.Hub.ProfileOf(namespace, cluster) })
	versions := map[string]string{}
	for _, step := range plan.Steps {
		err := a.write(ctx, step, versions)
		if refusal := kube.Refusal(err); refusal != nil {
			a.refuse(ctx, key, Refusal{namespace, name, bridge.ReasonRefusedByHub, refusal.Error()})
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
	}
	if len(plan.Foreign) > 0 {
		a.refuse(ctx, key, Refusal{namespace, name, bridge.ReasonNotOurs, "others, such as OCM's own copier, write SIG-Multicluster PlacementDecisions of this Placement, so Spokewire writes none: " + strings.Join(plan.Foreign, ", ")})
		return 0, nil
	}
	a.forget(key)
	return 0, nil
}

// write makes one step. versions are those that this run has written.
func (a *Applier) write(ctx context.Context, step bridge.SliceStep, versions map[string]string) error {
	slice := step.Slice.DeepCopy()
	if version, ok := versions[slice.Name]; ok {
		slice.ResourceVersion = version
	}
	var err error
	switch {
	case step.Delete:
		return a.Hub.DeleteSlice(ctx, slice)
	case step.Create:
		slice, err = a.Hub.CreateSlice(ctx, slice)
	default:
		slice, err = a.Hub.UpdateSlice(ctx, slice)
	}
	if err == nil {
		versions[slice.Name] = slice.ResourceVersion
	}
	return err
}

func (a *Applier) refuse(ctx context.Context, key string, r Refusal) {
	a.mu.Lock()
	again := a.refused[key] == r.Reason+r.Message
	a.refused[key] = r.Reason + r.Message
	a.mu.Unlock()
	if again {
		return
	}
	a.Log.Warn("slices of a Placement stay as they are", "placement", key, "reason", r.Reason, "message", r.Message)
	a.Refuse(ctx, r)
}

func (a *Applier) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.refused, key)
}
