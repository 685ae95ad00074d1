package asker

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/score"
)

// unit is what is asked at a time: of one scorer, for one cluster, or for all
// clusters at once where none gives the scorer anything of its own.
type unit struct {
	decider.Alarm
	asked   *asked
	cluster string // "" for all
	queued  bool
	running bool
	// failures are those in a row, failing since when, failure the last, nil
	// after an answer.
	failures int
	failing  time.Time
	failure  *dynamic.Failure
	answer   *answer // the last good one
}

// answer is what a scoring API said. own is what it said of the one cluster
// that was asked about.
type answer struct {
	results []dynamic.Result
	own     bool
	by      dynamic.Answered
	until   time.Time // it holds, in server time
}

// resultsFor are those of one cluster.
func (a *answer) resultsFor(cluster string) ([]dynamic.Result, *dynamic.Failure) {
	if a.own {
		return a.results, nil
	}
	return dynamic.For(cluster, a.results)
}

// items are those of one cluster. Some may be there though others failed.
func (a *answer) items(s *dynamic.Scorer, cluster string) ([]score.Item, *dynamic.Failure) {
	own, f := a.resultsFor(cluster)
	if f != nil {
		return nil, f
	}
	items, f := s.Items(cluster, own, a.by)
	if f != nil {
		return nil, f
	}
	for i := range items {
		if items[i].Value == nil {
			return items, &dynamic.Failure{Reason: items[i].Reason, Message: items[i].Message}
		}
	}
	return items, nil
}

func (u *unit) due(e *Asker) {
	if !u.queued && !u.running {
		u.queued = true
		e.waiting = append(e.waiting, u)
	}
}

// resetUnits has a asked anew, if it is this replica's. What it answered to
// other questions counts no more; the scores that it made stand until they
// expire.
func (e *Asker) resetUnits(a *asked) {
	for _, u := range a.units() {
		e.alarms.Set(u, time.Time{})
	}
	a.shared, a.each = nil, nil
	e.gauges.dropScorer(a.key)
	if a.scorer == nil || a.taken != "" || !e.mine(a) {
		return
	}
	if a.scorer.Question("") != nil {
		a.each = map[string]*unit{}
		for _, c := range e.clusters {
			e.resetUnit(a, c)
		}
		return
	}
	a.shared = &unit{asked: a}
	e.alarms.Set(a.shared, e.Now())
}

// resetUnit has a asked about one cluster, if it is there and not masked, and
// else no more.
func (e *Asker) resetUnit(a *asked, c *cluster) {
	if a.each == nil {
		return
	}
	u := a.each[c.name]
	switch wanted := c.scored() && !e.masked(a, c); {
	case wanted && u == nil:
		u = &unit{asked: a, cluster: c.name}
		a.each[c.name] = u
		e.alarms.Set(u, e.Now())
	case !wanted && u != nil:
		e.alarms.Set(u, time.Time{})
		delete(a.each, c.name)
		e.gauges.drop(a.key, c.name)
	}
}

// current reports whether u is still asked.
func (u *unit) current() bool {
	if u.cluster == "" {
		return u.asked.shared == u
	}
	return u.asked.each[u.cluster] == u
}

// startCalls starts the calls that wait, as many as may be under way.
func (e *Asker) startCalls(ctx context.Context) {
	var later []*unit
	for len(e.waiting) > 0 && e.calling < maxCalls {
		u := e.waiting[0]
		e.waiting = e.waiting[1:]
		a := u.asked
		switch {
		case !u.current() || a.scorer == nil || !e.mine(a):
			u.queued = false
		case a.calling >= maxCallsEach, u.failures > 0 && a.retrying >= maxRetriesEach:
			later = append(later, u)
		default:
			u.queued = false
			e.ask(ctx, u)
		}
	}
	e.waiting = append(later, e.waiting...)
}

// ask starts one call, unless the scorer failed too often of late.
func (e *Asker) ask(ctx context.Context, u *unit) {
	a := u.asked
	if until, open := a.breaker.Open(e.Now()); open {
		if u.failure == nil {
			u.failure = dynamic.Failf(dynamic.CircuitOpen, "the scorer failed too often in a row, it is tried again at %s", until.UTC().Format(time.RFC3339))
		}
		e.alarms.Set(u, until.Add(u.turn()))
		return
	}
	u.running = true
	a.calling++
	if u.failures > 0 {
		a.retrying++
	}
	s, cluster := a.scorer, u.cluster
	question := s.Question(a.key.String())
	if !s.Internal {
		a.breaker.Try()
	}
	e.call(ctx, func(ctx context.Context) func() {
		began := time.Now()
		out := e.options.work(ctx, s, cluster, question)
		out.took = time.Since(began)
		return func() { e.answered(u, s, out) }
	})
}

// turn is how long u lets others try first once a scorer that failed may be
// tried: those that failed less often.
func (u *unit) turn() time.Duration {
	return time.Duration(min(u.failures, 100)) * 10 * time.Millisecond
}

// call makes one call beside the loop; what it returns is called on it.
func (e *Asker) call(ctx context.Context, fn func(context.Context) func()) {
	e.calling++
	e.calls.Go(func() {
		done := fn(ctx)
		e.note(ctx, func() {
			e.folded = true
			e.calling--
			done()
		})
	})
}

// answered takes what a call brought.
func (e *Asker) answered(u *unit, s *dynamic.Scorer, out outcome) {
	a := u.asked
	u.running = false
	a.calling--
	if u.failures > 0 {
		a.retrying--
	}
	if !u.current() || a.scorer != s {
		// It was asked something else meanwhile. If it was the one call that
		// tries a scorer which failed too often, another one has to.
		a.breaker.Dropped()
		return
	}
	now := e.Now()
	e.counts.called(s.ScoreName, out.failure, out.took)
	if f := out.failure; f != nil {
		u.failed(out, now)
		e.alarms.Set(u, now.Add(dynamic.Retry(u.failures, s.Interval, rand.Float64())))
	} else {
		if !s.Internal {
			a.breaker.Succeeded()
		}
		a.answered, u.failures, u.failure = now, 0, nil
		u.answer = &answer{results: out.results, own: u.cluster != "", by: out.by, until: now.Add(s.Validity())}
		e.alarms.Set(u, now.Add(-min(out.took, s.Interval)).Add(jittered(s.Interval)))
		e.gauge(u, s)
	}
	if u.cluster == "" {
		e.markScorer(a)
		return
	}
	e.statuses.Push(a)
	if c := e.clusters[u.cluster]; c != nil {
		e.pairs.Push(c.pair(a.name))
	}
}

// failed takes note of a failure. Only what the scoring API that all clusters
// share did wrong is held against it, and not if it answered about another one
// since u began to fail: then it is what it was posted of this one.
func (u *unit) failed(out outcome, now time.Time) {
	if u.failures == 0 {
		u.failing = now
	}
	u.failures++
	u.failure = out.failure
	if out.inCluster || u.asked.answered.After(u.failing) {
		u.asked.breaker.Dropped()
		return
	}
	u.asked.breaker.Failed(now, rand.Float64())
}

// jittered is d, give or take a twentieth.
func jittered(d time.Duration) time.Duration { return d - d/20 + rand.N(d/10+1) }
