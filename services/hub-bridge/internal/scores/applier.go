// Package scores writes scores to the hub, as AddOnPlacementScores.
package scores

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/ledger"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/receipt"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/work"
)

// Hub is what is read from and written to the hub for scores.
type Hub interface {
	HasCluster(name string) bool
	Score(cluster, name string) *clusterv1alpha1.AddOnPlacementScore
	RefreshScore(ctx context.Context, cluster, name string) error

	CreateScore(context.Context, *clusterv1alpha1.AddOnPlacementScore) (*clusterv1alpha1.AddOnPlacementScore, error)
	UpdateScoreStatus(context.Context, *clusterv1alpha1.AddOnPlacementScore) (*clusterv1alpha1.AddOnPlacementScore, error)
	DeleteScore(context.Context, *clusterv1alpha1.AddOnPlacementScore) error
}

// Ledger holds the last score of each cluster and scorer.
type Ledger = ledger.Ledger[*Kept]

// Entry is one of them.
type Entry = ledger.Entry[*Kept]

// Options are the parts of an Applier. All are needed.
type Options struct {
	Hub     Hub
	Bus     events.Getter // for dead letters
	Record  func(context.Context, receipt.Answer)
	Bury    func(context.Context, events.Message, error) error
	Clock   *events.Clock
	Log     *slog.Logger
	Tracer  trace.Tracer
	Metrics prometheus.Registerer
	Urgent  *work.Gate
	// Budget is how many scores are written a second; Margin is how far
	// ahead their validUntil is set at least.
	Budget float64
	Margin time.Duration
}

// Applier keeps the AddOnPlacementScores of the hub as the log says.
type Applier struct {
	Options
	Ledger *Ledger
	queue  *work.Queue
	budget *rate.Limiter
	waited prometheus.Histogram

	mu      sync.Mutex
	refused map[string]string // by subject: the reason that was said
	bad     map[string]bad    // by subject: the last event that cannot be read
	subject map[string]map[string]bool
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{
		Options: o, queue: queue, budget: rate.NewLimiter(rate.Limit(o.Budget), max(1, int(o.Budget/10))),
		refused: map[string]string{}, bad: map[string]bad{}, subject: map[string]map[string]bool{},
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "spokewire_hub_bridge_score_budget_wait_seconds", Help: "How long score writes wait for the write budget.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}),
	}
	o.Metrics.MustRegister(a.waited)
	a.Ledger = ledger.New(o.Clock, Keep, a.changed, a.all)
	a.Ledger.Refused = a.unreadable
	return a
}

// Watch is what the ledger follows.
func Watch() events.Watch { return events.Watch{Stream: events.StreamScores, Newest: true} }

// Changed asks for a look at one score.
func (a *Applier) Changed(cluster, scorer string) {
	a.queue.Add(events.ScoreSubject(cluster, scorer))
}

// ClusterAppeared asks for a look at all scores of a cluster.
func (a *Applier) ClusterAppeared(cluster string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for subject := range a.subject[cluster] {
		a.queue.Add(subject)
	}
}

// Run writes scores until ctx ends.
func (a *Applier) Run(ctx context.Context, workers int) { a.queue.Run(ctx, workers, a.handle) }

// TimeMoved looks at all scores anew: server time was corrected.
func (a *Applier) TimeMoved() { a.all() }

func (a *Applier) all() {
	for _, subject := range a.Ledger.Subjects() {
		a.queue.Add(subject)
	}
}

func (a *Applier) changed(subject string, before, now *Entry) {
	a.index(subject, before, now)
	a.queue.Add(subject)
}

func (a *Applier) index(subject string, before, now *Entry) {
	s, err := events.ParseSubject(subject)
	if err != nil || before != nil && now != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now == nil {
		if delete(a.subject[s.Cluster], subject); len(a.subject[s.Cluster]) == 0 {
			delete(a.subject, s.Cluster)
		}
		delete(a.refused, subject)
		return
	}
	if a.subject[s.Cluster] == nil {
		a.subject[s.Cluster] = map[string]bool{}
	}
	a.subject[s.Cluster][subject] = true
}

// Follow follows the bus until ctx ends. The last readable score counts, as it
// does for those who decide without the hub.
func (a *Applier) Follow(ctx context.Context, w events.Watcher) error {
	return a.Ledger.Run(ctx, events.Readable{Watcher: w}, Watch())
}

// handle looks at the last score of subject, and at the hub.
func (a *Applier) handle(ctx context.Context, subject string) (time.Duration, error) {
	if err := a.buryUnreadable(ctx, subject); err != nil {
		return 0, err
	}
	entry := a.Ledger.Get(subject)
	if entry == nil || !a.Ledger.Last(entry) {
		return 0, nil // looked at again when the ledger has caught up
	}
	// While server time seems to have gone back, what comes in looks as if it
	// were long expired.
	if by, left := a.Clock.Leap(); by < 0 {
		return max(left, time.Millisecond), nil
	}
	read := entry.Value
	s, err := events.ParseSubject(subject)
	if err != nil {
		return 0, err
	}
	_, plan := a.plan(read, s)
	if plan.Action == bridge.CreateScore && !a.Hub.HasCluster(s.Cluster) {
		return 0, nil // until the cluster appears
	}
	switch plan.Action {
	case bridge.KeepScore:
		return a.until(plan.Again), nil
	case bridge.RefuseScore:
		a.refuse(ctx, entry, read, s, bridge.ReasonNotOurs, "the hub's AddOnPlacementScore "+s.Name+" in namespace "+s.Cluster+" was written by somebody else: name the scorer otherwise, or delete it")
		return 0, nil
	}
	return a.settle(ctx, entry, read, s, plan.Action)
}

// plan returns the hub's object, nil for none, and what to do with it.
func (a *Applier) plan(read *Kept, s events.Subject) (*clusterv1alpha1.AddOnPlacementScore, bridge.ScorePlan) {
	have := a.Hub.Score(s.Cluster, s.Name)
	margin := bridge.ScoreMargin(a.Ledger.Len(), a.Budget, a.Margin)
	return have, bridge.PlanScore(read.Score, have, a.Clock.Now(), margin)
}

func (a *Applier) until(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(t.Sub(a.Clock.Now()), time.Millisecond)
}

// wait waits for the budget and for decisions. What withdraws a score does
// not wait: nobody is to decide by a score that does not hold.
func (a *Applier) wait(ctx context.Context, action bridge.ScoreAction) error {
	if action == bridge.WithdrawScore || action == bridge.DeleteScore {
		return nil
	}
	start := time.Now()
	if err := a.budget.Wait(ctx); err != nil {
		return err
	}
	a.Urgent.Yield(ctx, yieldAtMost)
	a.waited.Observe(time.Since(start).Seconds())
	return nil
}

const (
	yieldAtMost = 50 * time.Millisecond
	maxTries    = 4
)
