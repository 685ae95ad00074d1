package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// scoringKinds are the kinds of OCM's dynamic scoring, by resource.
var scoringKinds = map[string]schema.GroupVersionResource{
	events.KindDynamicScorer: bridge.DynamicScorers,
	events.KindScoringConfig: bridge.DynamicScoringConfigs,
}

// lookEvery is how often the hub is asked whether it serves them, before
// jitter, and lookAgain how soon after it could not say.
const (
	lookEvery = 10 * time.Second
	lookAgain = time.Second
)

// errNotRead is that of what cannot be told yet.
var errNotRead = errors.New("the hub's dynamic scoring is not read yet")

// scoring is the part of a Hub that reads OCM's dynamic scoring, as long as
// the hub serves it: definitions may come and go while the bridge runs.
type scoring struct {
	log       *slog.Logger
	discovery discovery.DiscoveryInterface
	client    dynamic.Interface
	write     dynamic.Interface

	mu       sync.Mutex
	looked   bool
	readings map[string]*reading // by kind, while it is served
	denied   map[string]bool     // by kind: it is served, but may not be read
}

// reading is one informer that runs.
type reading struct {
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	done     chan struct{}
}

func newScoring(config *rest.Config, log *slog.Logger) (*scoring, error) {
	s := &scoring{log: log, readings: map[string]*reading{}, denied: map[string]bool{}}
	bounded := rest.CopyConfig(config)
	bounded.Timeout = callTimeout
	var err error
	if s.discovery, err = discovery.NewDiscoveryClientForConfig(bounded); err == nil {
		s.client, err = dynamic.NewForConfig(config)
	}
	if err == nil {
		s.write, err = dynamic.NewForConfig(config)
	}
	if err != nil {
		return nil, fmt.Errorf("hub client of dynamic scoring: %w", err)
	}
	return s, nil
}

// run reads what is served until ctx ends. changed is called with every
// change.
func (s *scoring) run(ctx context.Context, changed func(kind string, o any, added bool)) {
	for {
		pauseFor := lookEvery
		if err := s.look(ctx, changed); err != nil {
			pauseFor = lookAgain
			if ctx.Err() == nil {
				s.log.Warn("cannot ask the hub for dynamic scoring; will try again", "error", err)
			}
		}
		if !pause(ctx, pauseFor/2+rand.N(pauseFor)) {
			break
		}
	}
	for kind := range scoringKinds {
		s.end(kind, nil)
	}
}

// look starts to read what is served now, and stops what is not.
func (s *scoring) look(ctx context.Context, changed func(kind string, o any, added bool)) error {
	list, err := s.discovery.ServerResourcesForGroupVersion(bridge.DynamicScoringVersion.String())
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("resources of %s: %w", bridge.DynamicScoringVersion, err)
	}
	for kind, resource := range scoringKinds {
		served := list != nil && slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource.Resource })
		if !served {
			s.end(kind, changed)
			continue
		}
		if err := s.begin(ctx, kind, resource, changed); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = true
	return nil
}

// begin reads a kind, unless it does so already or may not.
func (s *scoring) begin(ctx context.Context, kind string, resource schema.GroupVersionResource, changed func(kind string, o any, added bool)) error {
	s.mu.Lock()
	_, runs := s.readings[kind]
	wasDenied := s.denied[kind]
	s.mu.Unlock()
	if runs {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.client.Resource(resource).List(bounded, metav1.ListOptions{Limit: 1})
	if apierrors.IsForbidden(err) {
		if !wasDenied {
			s.log.Error("the hub serves dynamic scoring, but it may not be read: apply the ClusterRole of this version of hub-bridge", "resource", resource.Resource, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.denied[kind] = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", resource.Resource, err)
	}
	s.log.Info("the hub serves dynamic scoring", "resource", resource.Resource)
	return s.start(ctx, kind, resource, changed)
}

func (s *scoring) start(ctx context.Context, kind string, resource schema.GroupVersionResource, changed func(kind string, o any, added bool)) error {
	informer := dynamicinformer.NewFilteredDynamicInformer(s.client, resource, metav1.NamespaceAll, resync, cache.Indexers{}, nil).Informer()
	if err := informer.SetTransform(slim); err != nil {
		return fmt.Errorf("hub informer of %s: %w", kind, err)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(o any, _ bool) { changed(kind, o, true) },
		UpdateFunc: func(_, o any) { changed(kind, o, false) },
		DeleteFunc: func(o any) {
			if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = unknown.Obj
			}
			changed(kind, o, false)
		},
	})
	if err != nil {
		return fmt.Errorf("hub informer of %s: %w", kind, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &reading{informer: informer, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		informer.RunWithContext(ctx)
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readings[kind] = r
	delete(s.denied, kind)
	return nil
}

// end stops reading a kind, and says that its objects are gone.
func (s *scoring) end(kind string, changed func(kind string, o any, added bool)) {
	s.mu.Lock()
	r := s.readings[kind]
	delete(s.readings, kind)
	delete(s.denied, kind)
	s.mu.Unlock()
	if r == nil {
		return
	}
	r.stop()
	<-r.done
	if changed == nil {
		return
	}
	s.log.Info("the hub does not serve dynamic scoring any more", "kind", kind)
	for _, o := range r.informer.GetStore().List() {
		changed(kind, o, false)
	}
}

// synced returns nil once it is known what the hub holds.
func (s *scoring) synced() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looked {
		return errNotRead
	}
	for _, r := range s.readings {
		if !r.informer.HasSynced() {
			return errNotRead
		}
	}
	return nil
}

// get returns an object, nil for none. It is an error where that cannot be
// told.
func (s *scoring) get(kind, namespace, name string) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	r, looked, denied := s.readings[kind], s.looked, s.denied[kind]
	s.mu.Unlock()
	switch {
	case denied || !looked || r != nil && !r.informer.HasSynced():
		return nil, errNotRead
	case r == nil:
		return nil, nil
	}
	o, ok, err := r.informer.GetStore().GetByKey(groupKey(namespace, name))
	if err != nil || !ok {
		return nil, err
	}
	u, _ := o.(*unstructured.Unstructured)
	return u, nil
}

// names lists what there is of a kind.
func (s *scoring) names(kind string) []Change {
	s.mu.Lock()
	r := s.readings[kind]
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	var out []Change
	for _, o := range r.informer.GetStore().List() {
		out = append(out, changes(kind, o, false)...)
	}
	return out
}

// observed is what there is to say of an object, nil for nothing.
func (s *scoring) observed(kind, namespace, name string) (schemas.Payload, error) {
	u, err := s.get(kind, namespace, name)
	if err != nil || u == nil {
		return nil, err
	}
	if kind == events.KindDynamicScorer {
		return bridge.DynamicScorer(u)
	}
	return bridge.DynamicScoringConfig(u)
}

// DynamicScorer returns a DynamicScorer as the cache has it, nil for none.
func (h *Hub) DynamicScorer(namespace, name string) (*unstructured.Unstructured, error) {
	return h.scoring.get(events.KindDynamicScorer, namespace, name)
}

// UpdateScorerStatus writes the status of a DynamicScorer, as of its
// resourceVersion.
func (h *Hub) UpdateScorerStatus(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	start := time.Now()
	written, err := h.scoring.write.Resource(bridge.DynamicScorers).Namespace(u.GetNamespace()).UpdateStatus(ctx, u, metav1.UpdateOptions{})
	h.metrics.wrote(events.KindDynamicScorer, verbStatus, start, err)
	if err != nil {
		return nil, fmt.Errorf("%s %s %s/%s: %w", verbStatus, events.KindDynamicScorer, u.GetNamespace(), u.GetName(), err)
	}
	return written, nil
}
