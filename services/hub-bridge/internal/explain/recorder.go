// Package explain tells those who look at a Placement on the hub why it is
// decided as it is: by an Event and by a condition, both long after the
// decision itself is applied, and few of them.
package explain

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	eventsv1 "k8s.io/api/events/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

const (
	// gap is how far apart the explanations of one Placement are at least. What
	// is decided in between waits for the next, which says the newest of it.
	gap = 10 * time.Second
	// eventFor is how old a decision may be for an Event: one that was found in
	// the log at the start is no news.
	eventFor = 10 * time.Minute
	// maxWaiting bounds the Placements that wait to be told of.
	maxWaiting = 4096
	// maxTries bounds the tries of one explanation.
	maxTries = 6
	// yieldMost is how long an explanation waits for decisions to be written.
	yieldMost = time.Second
)

// Hub is what is read from and written to the hub for explanations.
type Hub interface {
	Placement(namespace, name string) *clusterv1beta1.Placement
	RefreshPlacement(ctx context.Context, namespace, name string) error
	UpdatePlacementStatus(context.Context, *clusterv1beta1.Placement) (*clusterv1beta1.Placement, error)
	CreateEvent(context.Context, *eventsv1.Event) error
}

// Options are the parts of a Recorder. All are needed.
type Options struct {
	Hub   Hub
	Clock *events.Clock
	Log   *slog.Logger
	// Urgent is what explanations step back for.
	Urgent *work.Gate
	// Budget is how many explanations a second are written.
	Budget float64
	// Identity is this replica's name.
	Identity string
	Metrics  prometheus.Registerer
}

// Recorder writes explanations, one at a time.
type Recorder struct {
	Options
	queue   *work.Queue
	limiter *rate.Limiter
	results *prometheus.CounterVec
	refused sync.Once // that the hub takes no Events is said once

	mu      sync.Mutex
	waiting map[string]*waiting // by the decision's subject
	told    map[string]told
}

// waiting is a decision that is to be told of.
type waiting struct {
	namespace   string // of the Placement
	name        string
	explanation bridge.Explanation
	decision    *schemas.PlacementDecision // as far as it says whose it is
	silent      bool                       // no Event, the condition alone
	standing    bool                       // the hub has it, or a later one: not before that is it told
	others      int                        // decisions that it took the place of
	tries       int
}

// told is the last decision that has an Event.
type told struct {
	sequence uint64
	next     time.Time // when the next explanation may be
}

// Results, as they stand in the metrics.
const (
	resultTold    = "told"
	resultMerged  = "merged"
	resultDropped = "dropped"
	resultFailed  = "failed"
)

// NewRecorder returns a Recorder that works on what is in queue.
func NewRecorder(o Options, queue *work.Queue) *Recorder {
	r := &Recorder{
		Options: o, queue: queue, limiter: rate.NewLimiter(rate.Limit(o.Budget), 1),
		waiting: map[string]*waiting{}, told: map[string]told{},
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokewire_hub_bridge_explanations_total",
			Help: "Decisions that are news on the hub, by what became of their explanation: told, merged (a newer one took its place), dropped (too many waited), failed.",
		}, []string{"result"}),
	}
	o.Metrics.MustRegister(r.results)
	for _, result := range []string{resultTold, resultMerged, resultDropped, resultFailed} {
		r.results.WithLabelValues(result)
	}
	return r
}

// Run writes explanations until ctx ends.
func (r *Recorder) Run(ctx context.Context) { r.queue.Run(ctx, 1, r.handle) }

// Note takes note of what became of a decision, nil for one that is deleted.
// It does not block. The same may be noted again and again.
func (r *Recorder) Note(a receipt.Answer, d *schemas.PlacementDecision) {
	if d == nil {
		r.forget(a.Subject)
		return
	}
	standing := a.Outcome == schemas.OutcomeApplied || a.Outcome == schemas.OutcomeUnchanged
	switch w := r.news(a, d); {
	case w != nil:
		w.standing = standing || w.explanation.Refused
		r.put(a.Subject, w)
	case !standing || !r.stand(a.Subject):
		return
	}
	r.queue.Add(a.Subject)
}

// news is what there is to tell of a decision, nil for nothing.
func (r *Recorder) news(a receipt.Answer, d *schemas.PlacementDecision) *waiting {
	w := &waiting{namespace: a.Namespace, name: a.Name, decision: &schemas.PlacementDecision{Placement: d.Placement, Mode: d.Mode, Scheduler: d.Scheduler}}
	switch {
	case a.Outcome == schemas.OutcomeRefused:
		w.explanation = refusal(d, a)
	case placement.News(d):
		w.explanation = explanation(d)
	case holdOver(r.Hub.Placement(a.Namespace, a.Name), d):
		w.explanation, w.silent = explanation(d), true
	default:
		return nil
	}
	w.explanation.ID, w.explanation.Sequence, w.explanation.At = a.ID, a.Sequence, a.ReceivedAt
	return w
}

// put has w wait in the place of what waited before.
func (r *Recorder) put(subject string, w *waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.waiting[subject]
	switch {
	case before == nil && len(r.waiting) >= maxWaiting:
		r.results.WithLabelValues(resultDropped).Inc()
		return
	case before != nil && before.explanation == w.explanation:
		before.standing = before.standing || w.standing
		return
	case before != nil && w.silent && !before.silent:
		before.standing = before.standing || w.standing
		return
	case before != nil:
		w.others = before.others
		if !before.silent && before.explanation.Sequence != r.told[subject].sequence {
			w.others++
			r.results.WithLabelValues(resultMerged).Inc()
		}
	}
	r.waiting[subject] = w
}

// stand takes note that what waits, if anything does, is overtaken by a
// decision that the hub has: what it says holds.
func (r *Recorder) stand(subject string) (waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.waiting[subject]
	if w != nil {
		w.standing = true
	}
	return w != nil
}

func (r *Recorder) forget(subject string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, subject)
	delete(r.told, subject)
}

// get returns what is to be told, nil for nothing, and how long that has to
// wait.
func (r *Recorder) get(subject string) (*waiting, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.waiting[subject]
	if w == nil || !w.standing {
		return nil, 0
	}
	return w, time.Until(r.told[subject].next)
}

// end takes w as dealt with, unless another waits already.
func (r *Recorder) end(subject string, w *waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[subject] == w {
		delete(r.waiting, subject)
	}
}
