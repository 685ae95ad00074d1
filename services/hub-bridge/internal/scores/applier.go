// Package scores writes scores to the hub, as AddOnPlacementScores.
package scores

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/hub-bridge/internal/kube"
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

// Bus is what scores need of the bus, for dead letters.
type Bus interface {
	events.Publisher
	events.Getter
}

// Ledger holds the last score of each cluster and scorer.
type Ledger = ledger.Ledger[*Kept]

// Entry is one of them.
type Entry = ledger.Entry[*Kept]

// Options are the parts of an Applier. All are needed.
type Options struct {
	Service string
	Hub     Hub
	Bus     Bus
	Record  func(context.Context, receipt.Answer)
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
	subject map[string]map[string]bool
}

// NewApplier returns an Applier that works on what is in queue.
func NewApplier(o Options, queue *work.Queue) *Applier {
	a := &Applier{
		Options: o, queue: queue, budget: rate.NewLimiter(rate.Limit(o.Budget), max(1, int(o.Budget/10))),
		refused: map[string]string{}, subject: map[string]map[string]bool{},
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "spokewire_hub_bridge_score_budget_wait_seconds", Help: "How long score writes wait for the write budget.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}),
	}
	o.Metrics.MustRegister(a.waited)
	a.Ledger = ledger.New(o.Clock, Keep, a.changed, a.all)
	return a
}

// Watch is what the ledger follows.
func Watch() events.Watch { return events.Watch{Stream: events.StreamScores} }

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
		delete(a.subject[s.Cluster], subject)
		delete(a.refused, subject)
		return
	}
	if a.subject[s.Cluster] == nil {
		a.subject[s.Cluster] = map[string]bool{}
	}
	a.subject[s.Cluster][subject] = true
}

// handle looks at the last score of subject, and at the hub.
func (a *Applier) handle(ctx context.Context, subject string) (time.Duration, error) {
	entry := a.Ledger.Get(subject)
	if entry == nil || !a.Ledger.Last(entry) {
		return 0, nil // looked at again when the ledger has caught up
	}
	read, err := entry.Value.Read()
	if err != nil {
		return 0, a.bury(ctx, entry, err)
	}
	s, err := events.ParseSubject(subject)
	if err != nil {
		return 0, err
	}
	plan := a.plan(read, s)
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
	return a.settle(ctx, entry, read, s, plan)
}

func (a *Applier) plan(read Read, s events.Subject) bridge.ScorePlan {
	margin := bridge.ScoreMargin(a.Ledger.Len(), a.Budget, a.Margin)
	return bridge.PlanScore(read.Score, a.Hub.Score(s.Cluster, s.Name), a.Clock.Now(), margin)
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

func (a *Applier) settle(ctx context.Context, entry *Entry, read Read, s events.Subject, plan bridge.ScorePlan) (time.Duration, error) {
	if err := a.wait(ctx, plan.Action); err != nil {
		return 0, err
	}
	ctx, span := a.Tracer.Start(events.Extract(ctx, read.event()), "bridge.apply", trace.WithAttributes(
		attribute.String("spokewire.subject", entry.Subject), attribute.Int64("spokewire.sequence", int64(entry.Sequence)))) //nolint:gosec // a sequence fits
	defer span.End()
	for try := 1; ; try++ {
		if !a.Ledger.Last(entry) {
			return 0, nil // the newer one is in the queue
		}
		plan = a.plan(read, s)
		err := a.write(ctx, s, plan)
		if err == nil {
			a.settled(entry.Subject)
			return a.until(plan.Again), nil
		}
		if kube.NoNamespace(err) || kube.Refusal(err) != nil || !kube.Stale(err) || try == maxTries {
			span.SetStatus(codes.Error, err.Error())
			return 0, a.failed(ctx, entry, read, s, err)
		}
		if err := a.Hub.RefreshScore(ctx, s.Cluster, s.Name); err != nil {
			return 0, err
		}
	}
}

func (a *Applier) write(ctx context.Context, s events.Subject, plan bridge.ScorePlan) error {
	have := a.Hub.Score(s.Cluster, s.Name)
	switch plan.Action {
	case bridge.KeepScore, bridge.RefuseScore:
		return nil
	case bridge.DeleteScore:
		return a.Hub.DeleteScore(ctx, have)
	case bridge.CreateScore:
		created, err := a.Hub.CreateScore(ctx, bridge.NewScoreObject(s.Cluster, s.Name))
		if err != nil {
			return err
		}
		have = created
	}
	have = have.DeepCopy()
	have.Status = plan.Status
	_, err := a.Hub.UpdateScoreStatus(ctx, have)
	return err
}

// failed sorts the errors that no retry mends from the others.
func (a *Applier) failed(ctx context.Context, entry *Entry, read Read, s events.Subject, err error) error {
	if kube.NoNamespace(err) {
		a.refuse(ctx, entry, read, s, bridge.ReasonNoNamespace, err.Error())
		return err // it may come
	}
	if refusal := kube.Refusal(err); refusal != nil {
		a.refuse(ctx, entry, read, s, bridge.ReasonRefusedByHub, err.Error())
		return a.bury(ctx, entry, refusal)
	}
	return err
}

func (a *Applier) settled(subject string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.refused, subject)
}

// refuse says once why a score is not on the hub, however often it is
// computed.
func (a *Applier) refuse(ctx context.Context, entry *Entry, read Read, s events.Subject, reason, message string) {
	a.mu.Lock()
	said := a.refused[entry.Subject] == reason
	a.refused[entry.Subject] = reason
	a.mu.Unlock()
	if said {
		return
	}
	a.Log.Warn("a score is not written to the hub", "subject", entry.Subject, "reason", reason, "message", message)
	a.Record(ctx, receipt.Answer{
		Kind: events.KindScore, Namespace: s.Cluster, Name: s.Name,
		Subject: entry.Subject, Sequence: entry.Sequence, ID: read.ID, ReceivedAt: entry.ReceivedAt, Origin: read.Origin,
		Outcome: schemas.OutcomeRefused, Reason: reason, Message: message,
	})
}

// bury keeps the event that no retry mends, unless a newer one stands in
// its place already.
func (a *Applier) bury(ctx context.Context, entry *Entry, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	m, err := a.Bus.Last(ctx, events.StreamScores, entry.Subject)
	if err != nil || m.Sequence != entry.Sequence {
		return err
	}
	return events.Bury(ctx, a.Bus, a.Service, m, cause)
}
