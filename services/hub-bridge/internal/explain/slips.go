package explain

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Slips tells, by an Event, of annotations that nobody can read on Placements
// that OCM decides: of those no decision of ours says what is wrong.
type Slips struct {
	Options
	queue   *work.Queue
	results *prometheus.CounterVec

	mu   sync.Mutex
	told map[string]string // the names of the Events, by Placement
}

// NewSlips returns Slips that work on what is in queue. Of o the Budget is not
// used: an Event is written once for each slip.
func NewSlips(o Options, queue *work.Queue) *Slips {
	s := &Slips{
		Options: o, queue: queue, told: map[string]string{},
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_hub_bridge_slips_total",
			Help: "Annotations that cannot be read on Placements that OCM decides, by whether an Event tells of them: told, failed.",
		}, []string{"result"}),
	}
	o.Metrics.MustRegister(s.results)
	for _, result := range []string{resultTold, resultFailed} {
		s.results.WithLabelValues(result)
	}
	return s
}

// Changed asks for a look at a Placement.
func (s *Slips) Changed(namespace, name string) { s.queue.Add(namespace + "/" + name) }

// Run tells until ctx ends.
func (s *Slips) Run(ctx context.Context) { s.queue.Run(ctx, 1, s.handle) }

func (s *Slips) handle(ctx context.Context, key string) (time.Duration, error) {
	namespace, name, _ := strings.Cut(key, "/")
	p := s.Hub.Placement(namespace, name)
	slip := slipOf(p)
	if slip == nil {
		s.mark(key, "")
		return 0, nil
	}
	return 0, s.tell(ctx, key, p, slip)
}

// slipOf is what is wrong with the annotations of a Placement that OCM decides;
// nil where nothing is, or a decision of ours says it.
func slipOf(p *clusterv1beta1.Placement) error {
	if p == nil || p.DeletionTimestamp != nil || bridge.Direct(p) || p.Annotations[placement.AnnotationMode] == schemas.ModeShadow {
		return nil
	}
	return placement.CheckAnnotations(p.Annotations)
}

func (s *Slips) tell(ctx context.Context, key string, p *clusterv1beta1.Placement, slip error) error {
	event := bridge.SlipEvent(p, slip, s.Clock.Now(), s.Identity)
	if s.knows(key, event.Name) {
		return nil
	}
	s.Urgent.Yield(ctx, yieldMost)
	err := s.Hub.CreateEvent(ctx, event)
	switch {
	case err == nil:
		s.results.WithLabelValues(resultTold).Inc()
	case kube.NoNamespace(err): // it is going, and the Placement with it
	case kube.Final(err):
		s.results.WithLabelValues(resultFailed).Inc()
		s.Log.Warn("annotations cannot be read, and the hub takes no Event that says so", "placement", key, "reason", event.Note, "error", err)
	default:
		return err
	}
	s.mark(key, event.Name)
	return nil
}

func (s *Slips) knows(key, event string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[key] == event
}

// mark takes note of what was told of a Placement, nothing for "".
func (s *Slips) mark(key, event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if event == "" {
		delete(s.told, key)
	} else {
		s.told[key] = event
	}
}
