// Package kube is the bridge's way to the hub's API server: typed clients,
// informers, and a view of the objects that own writes show in at once.
package kube

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clusterclient "open-cluster-management.io/api/client/cluster/clientset/versioned"
	workclient "open-cluster-management.io/api/client/work/clientset/versioned"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/pkg/events"
)

// Change says that an object of a kind (events.Kind…, or one of this
// package) may have changed. For a PlacementDecision, or a slice, the name is
// that of its Placement.
type Change struct {
	Kind, Namespace, Name string
	// Added is true where the object was not there before.
	Added bool
}

// Hub reads and writes the hub's objects.
type Hub struct {
	write   clusterclient.Interface
	events  eventsclient.EventsV1Interface
	works   workclient.Interface
	metrics *Metrics

	informers  map[string]cache.SharedIndexInformer // by kind
	placements *overlay[*clusterv1beta1.Placement]
	pages      *overlay[*clusterv1beta1.PlacementDecision]
	scores     *overlay[*clusterv1alpha1.AddOnPlacementScore]
	inventory  inventory // SIG-Multicluster's resources, where they are asked for
	scoring    *scoring  // OCM's dynamic scoring, where it is served
	onChange   func(Change)
}

// New returns a Hub that reads through informers, those of sig among them.
// The QPS and burst of config hold for reading and for writing each.
func New(config *rest.Config, metrics *Metrics, sig SIG, log *slog.Logger) (*Hub, error) {
	read, err := clusterclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("hub client: %w", err)
	}
	write, err := clusterclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("hub client: %w", err)
	}
	kubernetes, err := eventsclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("hub client: %w", err)
	}
	works, err := workclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("hub client: %w", err)
	}
	informers, err := newInformers(read)
	if err != nil {
		return nil, err
	}
	inventory, err := newInventory(config, sig, informers)
	if err != nil {
		return nil, err
	}
	scoring, err := newScoring(config, log)
	if err != nil {
		return nil, err
	}
	return &Hub{
		inventory: inventory, scoring: scoring,
		write: write, events: kubernetes, works: works, metrics: metrics, informers: informers,
		placements: newOverlay(func(p *clusterv1beta1.Placement) string { return objectGroup(p) }, time.Now),
		pages:      newOverlay(pageGroup[*clusterv1beta1.PlacementDecision], time.Now),
		scores:     newOverlay(func(s *clusterv1alpha1.AddOnPlacementScore) string { return objectGroup(s) }, time.Now),
	}, nil
}

func objectGroup(o metav1.Object) string { return groupKey(o.GetNamespace(), o.GetName()) }

func groupKey(namespace, name string) string { return namespace + "/" + name }

// see takes note of what an informer has seen.
func (h *Hub) see(object any, deleted bool) {
	switch o := object.(type) {
	case *clusterv1beta1.Placement:
		h.placements.observe(o, deleted)
	case *clusterv1beta1.PlacementDecision:
		h.pages.observe(o, deleted)
	case *clusterv1alpha1.AddOnPlacementScore:
		h.scores.observe(o, deleted)
	default:
		h.inventory.see(o, deleted)
	}
}

// OnChange calls fn with every change of the hub's objects, from several
// goroutines, once the change shows in what the Hub returns. It is called
// once, before Run. fn does not block.
func (h *Hub) OnChange(fn func(Change)) error {
	h.onChange = fn
	for kind, informer := range h.informers {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(o any, _ bool) {
				h.see(o, false)
				h.changed(kind, o, true, fn)
			},
			UpdateFunc: func(old, o any) {
				h.see(o, false)
				if kind == events.KindPlacementDecision || kind == KindSlice { // it may have had another label
					h.changed(kind, old, false, fn)
				}
				h.changed(kind, o, false, fn)
			},
			DeleteFunc: func(o any) {
				if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
					o = unknown.Obj
				}
				h.see(o, true)
				h.changed(kind, o, false, fn)
			},
		})
		if err != nil {
			return fmt.Errorf("hub informer of %s: %w", kind, err)
		}
	}
	return nil
}

func (h *Hub) changed(kind string, object any, added bool, fn func(Change)) {
	h.metrics.seen.WithLabelValues(kind).Inc()
	for _, c := range changes(kind, object, added) {
		fn(c)
	}
}

func changes(kind string, object any, added bool) []Change {
	o, ok := object.(metav1.Object)
	if !ok {
		return nil
	}
	c := Change{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), Added: added}
	var placements []string
	switch kind {
	case kindSource: // a cluster, to everybody else
		return []Change{{Kind: events.KindCluster, Name: o.GetName(), Added: added}}
	case events.KindPlacementDecision, KindSlice:
		placements = placementsOf(o)
	default:
		return []Change{c}
	}
	var out []Change
	for _, name := range placements {
		c.Name = name
		out = append(out, c)
	}
	return out
}

// Run keeps the caches until ctx ends, and returns when nothing of it goes on.
func (h *Hub) Run(ctx context.Context) {
	var informers sync.WaitGroup
	defer informers.Wait()
	for _, informer := range h.informers {
		informers.Go(func() { informer.RunWithContext(ctx) })
	}
	informers.Go(func() {
		h.scoring.run(ctx, func(kind string, o any, added bool) { h.changed(kind, o, added, h.onChange) })
	})
	ticker := time.NewTicker(overlayFor)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.placements.sweep()
			h.pages.sweep()
			h.scores.sweep()
			h.inventory.sweep()
		case <-ctx.Done():
			return
		}
	}
}

// Synced returns nil once every cache holds what the hub holds, else an
// error that names one which does not.
func (h *Hub) Synced() error {
	for kind, informer := range h.informers {
		if !informer.HasSynced() {
			return fmt.Errorf("the hub's objects of kind %s are not read yet", kind)
		}
	}
	return h.scoring.synced()
}
