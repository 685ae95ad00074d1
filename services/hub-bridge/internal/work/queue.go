// Package work runs level-based work: a queue of subjects, each at most once
// in it and with one worker at a time.
package work

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// Delays between the tries of one item, before jitter.
const (
	firstDelay = 20 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// Handler works on the present state of subject. It returns when to look at
// it again even if nothing happens (0: never), or an error to be tried again
// with backoff.
type Handler func(ctx context.Context, subject string) (again time.Duration, err error)

// Queue holds the subjects to look at. It may be filled before Run.
type Queue struct {
	name    string
	queue   workqueue.TypedRateLimitingInterface[string]
	log     *slog.Logger
	retries prometheus.Counter
}

// NewQueue returns an empty queue that counts in metrics under its name.
func NewQueue(name string, log *slog.Logger, metrics *Metrics) *Queue {
	limiter := jittered{workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstDelay, lastDelay)}
	q := &Queue{
		name:    name,
		queue:   workqueue.NewTypedRateLimitingQueue[string](limiter),
		log:     log,
		retries: metrics.retries.WithLabelValues(name),
	}
	metrics.watch(q)
	return q
}

type jittered struct {
	workqueue.TypedRateLimiter[string]
}

func (j jittered) When(subject string) time.Duration {
	d := j.TypedRateLimiter.When(subject)
	return d + rand.N(d/2+1)
}

// Add asks for a look at subject.
func (q *Queue) Add(subject string) { q.queue.Add(subject) }

// Len is how many subjects wait.
func (q *Queue) Len() int { return q.queue.Len() }

// Run works with that many workers until ctx ends.
func (q *Queue) Run(ctx context.Context, workers int, h Handler) {
	stop := context.AfterFunc(ctx, q.queue.ShutDown)
	defer stop()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for q.next(ctx, h) {
			}
		})
	}
	group.Wait()
}

func (q *Queue) next(ctx context.Context, h Handler) bool {
	subject, shutdown := q.queue.Get()
	if shutdown || ctx.Err() != nil {
		return false
	}
	defer q.queue.Done(subject)
	again, err := h(ctx, subject)
	if err != nil {
		if ctx.Err() == nil {
			q.retries.Inc()
			q.log.Warn("will try again", "queue", q.name, "subject", subject, "tries", q.queue.NumRequeues(subject)+1, "error", err)
			q.queue.AddRateLimited(subject)
		}
		return true
	}
	q.queue.Forget(subject)
	if again > 0 {
		q.queue.AddAfter(subject, again)
	}
	return true
}
