// Package kubernetes takes snapshots of what a cluster has and what is free
// in it: it watches nodes and pods, and counts them when it is asked.
package kubernetes

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/capacity"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

const (
	// grace is how long a watch may be down before what was seen last counts
	// as old. A watch ends every few minutes, and begins anew at once.
	grace = 15 * time.Second
	// notEnded keeps ended pods from being sent at all.
	notEnded = "status.phase!=Succeeded,status.phase!=Failed"
	// calls bounds those of the API server a second: a few for each watch.
	calls = 10
)

// Source counts one cluster.
type Source struct {
	rules       sample.Rules
	watches     *watches
	nodes, pods cache.SharedIndexInformer
	log         *slog.Logger
	now         func() time.Time
}

// New returns a Source for a valid source of this kind. The error names the
// field.
func New(source config.Source, log *slog.Logger) (*Source, error) {
	rules, err := source.Rules()
	if err != nil {
		return nil, err
	}
	c, err := connection(source.Kubernetes.Kubeconfig)
	if err != nil {
		return nil, &schemas.FieldError{Field: "kubernetes.kubeconfig", Reason: "cannot be used: " + err.Error()}
	}
	return newSource(c, source, rules, log)
}

func newSource(c *rest.Config, source config.Source, rules sample.Rules, log *slog.Logger) (*Source, error) {
	s := &Source{rules: rules, watches: newWatches(), log: log, now: time.Now}
	c.UserAgent = "spokewire-collector"
	c.ContentType, c.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	c.QPS, c.Burst = calls, 2*calls
	c.Wrap(s.watches.wrap)
	client, err := newReader(c)
	if err != nil {
		return nil, &schemas.FieldError{Field: "kubernetes.kubeconfig", Reason: "cannot be used: " + err.Error()}
	}
	ofNodes := func(o *metav1.ListOptions) { o.LabelSelector = source.Kubernetes.Nodes }
	ofPods := func(o *metav1.ListOptions) { o.FieldSelector = notEnded }
	s.nodes = s.informer(listed[corev1.NodeList](client, nodes, ofNodes), &corev1.Node{}, nodes, trimNode(source.Kubernetes.PoolLabels))
	s.pods = s.informer(listed[corev1.PodList](client, pods, ofPods), &corev1.Pod{}, pods, trimPod)
	return s, nil
}

// connection is that of a kubeconfig, or of the pod's service account.
func connection(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

// informer keeps what trim makes of each object.
func (s *Source) informer(lw *cache.ListWatch, of runtime.Object, resource string, trim cache.TransformFunc) cache.SharedIndexInformer {
	informer := cache.NewSharedIndexInformerWithOptions(lw, of, cache.SharedIndexInformerOptions{})
	// Only an informer that runs already refuses these.
	_ = informer.SetTransform(trim)
	_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { s.watches.failed(resource, err) })
	return informer
}

func trimNode(poolLabels []string) cache.TransformFunc {
	return func(object any) (any, error) {
		if n, ok := object.(*corev1.Node); ok {
			return capacity.NodeOf(n, poolLabels), nil
		}
		return object, nil // trimmed already, or a tombstone
	}
}

func trimPod(object any) (any, error) {
	if p, ok := object.(*corev1.Pod); ok {
		return capacity.PodOf(p), nil
	}
	return object, nil
}

// Run watches until ctx ends, and returns its error.
func (s *Source) Run(ctx context.Context) error {
	// What client-go has to say is said by Scrape.
	quiet := klog.NewContext(ctx, logr.FromSlogHandler(quietHandler{s.log.Handler()}))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.nodes.RunWithContext(quiet)
	}()
	s.pods.RunWithContext(quiet)
	<-ended
	return ctx.Err()
}

// Close does nothing: what was opened, Run closes.
func (s *Source) Close() {}

// Scrape counts what is there. While a watch has been down for longer than a
// grace, there is no snapshot: what was seen last may have changed. Every
// error is a *failure.Error.
func (s *Source) Scrape(context.Context) (sample.Snapshot, error) {
	if err := s.watches.err(s.now(), map[string]bool{nodes: s.nodes.HasSynced(), pods: s.pods.HasSynced()}); err != nil {
		return sample.Snapshot{}, err
	}
	selection := s.rules.Start()
	capacity.CountAll(all[*capacity.Node](s.nodes), all[*capacity.Pod](s.pods)).Select(selection)
	snapshot, err := selection.Snapshot()
	if err != nil {
		return snapshot, &failure.Error{Reason: failure.TooManySamples, Err: fmt.Errorf("kubernetes: %w", err)}
	}
	return snapshot, nil
}

func all[T any](informer cache.SharedIndexInformer) []T {
	var list []T
	for _, object := range informer.GetStore().List() {
		if one, ok := object.(T); ok {
			list = append(list, one)
		}
	}
	return list
}
