package asker

import (
	"context"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/score"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// unit is what is asked at a time: of one scorer, for all clusters at once.
type unit struct {
	decider.Alarm
	asked   *asked
	queued  bool
	running bool
	// failures are those in a row, failure the last, nil after an answer.
	failures int
	failure  *dynamic.Failure
	answer   *answer // the last good one
}

// answer is what a scoring API said.
type answer struct {
	results []dynamic.Result
	by      dynamic.Answered
	until   time.Time // it holds, in server time
}

// items are those of one cluster. Some may be there though others failed.
func (a *answer) items(s *dynamic.Scorer, cluster string) ([]score.Item, *dynamic.Failure) {
	own, f := dynamic.For(cluster, a.results)
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
	a.shared = nil
	e.gauges.dropScorer(a.key)
	if a.scorer == nil || a.taken != "" || !e.mine(a) {
		return
	}
	a.shared = &unit{asked: a}
	e.alarms.Set(a.shared, e.Now())
}

// current reports whether u is still asked.
func (u *unit) current() bool { return u.asked.shared == u }

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
		case a.calling >= maxCallsEach:
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
		e.alarms.Set(u, until)
		return
	}
	a.breaker.Try()
	u.running = true
	a.calling++
	s := a.scorer
	e.call(ctx, func(ctx context.Context) func() {
		began := time.Now()
		results, f := e.post(ctx, s)
		took := time.Since(began)
		return func() { e.answered(u, s, results, f, took) }
	})
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

// Times of a call.
const (
	minTimeout = 5 * time.Second
	maxTimeout = 30 * time.Second
)

// post asks a scoring API.
func (e *Asker) post(ctx context.Context, s *dynamic.Scorer) ([]dynamic.Result, *dynamic.Failure) {
	ctx, cancel := context.WithTimeout(ctx, min(max(s.Interval, minTimeout), maxTimeout))
	defer cancel()
	body, err := e.options.API.Post(ctx, s.URL, s.Token, dynamic.NoData, dynamic.MaxAnswer)
	if err != nil {
		return nil, dynamic.FailureOf(err)
	}
	return dynamic.DecodeAnswer(body)
}

// answered takes what a call brought.
func (e *Asker) answered(u *unit, s *dynamic.Scorer, results []dynamic.Result, f *dynamic.Failure, took time.Duration) {
	a := u.asked
	u.running = false
	a.calling--
	if !u.current() || a.scorer != s {
		return // it was asked something else meanwhile
	}
	now := e.Now()
	e.counts.called(s.ScoreName, f, took)
	if f != nil {
		a.breaker.Failed(now, rand.Float64())
		u.failures++
		u.failure = f
		e.alarms.Set(u, now.Add(dynamic.Retry(u.failures, s.Interval, rand.Float64())))
	} else {
		a.breaker.Succeeded()
		u.failures, u.failure = 0, nil
		u.answer = &answer{results: results, by: dynamic.Answered{URL: s.URL}, until: now.Add(s.Validity())}
		e.alarms.Set(u, now.Add(-min(took, s.Interval)).Add(jittered(s.Interval)))
		e.gauge(u, s)
	}
	e.markScorer(a)
}

// jittered is d, give or take a twentieth.
func jittered(d time.Duration) time.Duration { return d - d/20 + rand.N(d/10+1) }

// check is how a scorer's health, configuration and token are looked at now
// and then.
type check struct {
	decider.Alarm
	asked   *asked
	running bool
	done    bool // once, since this replica took the scorer up
	// failures are those in a row, failure the last, nil after an answer;
	// token is why the token cannot be read.
	failures       int
	failure, token *dynamic.Failure
}

func (c *check) due(e *Asker) {
	if !c.running && e.mine(c.asked) {
		e.checks = append(e.checks, c)
		c.running = true
	}
}

// startChecks makes the checks that are due. They are few.
func (e *Asker) startChecks(ctx context.Context) {
	for _, c := range e.checks {
		w := c.asked.wish()
		if w == nil {
			c.running = false
			continue
		}
		spec := w.spec
		e.call(ctx, func(ctx context.Context) func() {
			config, failure, token := e.look(ctx, &spec)
			return func() { e.checked(c.asked, &spec, config, failure, token) }
		})
	}
	e.checks = nil
}

const checkTimeout = 10 * time.Second

// look asks a scorer for its configuration, or else for its health, and
// whether its token is there.
func (e *Asker) look(ctx context.Context, spec *schemas.DynamicScorerSpec) (config *schemas.SyncedConfig, failure, token *dynamic.Failure) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if spec.Scoring != nil && spec.Scoring.Auth != nil {
		if err := e.options.API.Token(spec.Scoring.Auth.TokenSecretRef); err != nil {
			token = dynamic.FailureOf(err)
		}
	}
	if spec.ConfigSyncMode == schemas.SyncFull {
		body, err := e.options.API.Get(ctx, spec.ConfigURL, dynamic.MaxConfig)
		if err != nil {
			return nil, told(spec.ConfigURL, dynamic.FailureOf(err)), token
		}
		config, failure = dynamic.DecodeConfig(body)
		return config, told(spec.ConfigURL, failure), token
	}
	url, failure := dynamic.HealthURL(spec.ConfigURL)
	if failure != nil {
		return nil, failure, token
	}
	if _, err := e.options.API.Get(ctx, url, dynamic.MaxConfig); err != nil {
		return nil, told(url, dynamic.FailureOf(err)), token
	}
	return nil, nil, token
}

// told says of a failure which URL it is about.
func told(url string, f *dynamic.Failure) *dynamic.Failure {
	if f == nil {
		return nil
	}
	return dynamic.Failf(f.Reason, "GET %s: %s", url, f.Message)
}

// checked takes what a check found out.
func (e *Asker) checked(a *asked, spec *schemas.DynamicScorerSpec, config *schemas.SyncedConfig, failure, token *dynamic.Failure) {
	c := &a.check
	c.running = false
	w := a.wish()
	if w == nil || !e.mine(a) {
		return
	}
	if !reflect.DeepEqual(&w.spec, spec) {
		e.alarms.Set(c, e.Now()) // it was another question
		return
	}
	c.done, c.failure, c.token = true, failure, token
	next := jittered(e.options.Check)
	if failure != nil {
		c.failures++
		next = min(next, dynamic.Retry(c.failures, e.options.Check, rand.Float64()))
	} else {
		c.failures = 0
	}
	e.alarms.Set(c, e.Now().Add(next))
	if config != nil && !reflect.DeepEqual(config, a.config(w)) {
		a.synced = config
		e.resolve(a)
	}
	if failure != nil || token != nil {
		e.markName(a.name) // who has no score yet is told why
	}
	e.statuses.Push(a)
}
