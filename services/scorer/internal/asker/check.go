package asker

import (
	"context"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/schemas"
)

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
// whether its token is there, if that is not one of the clusters' own.
func (e *Asker) look(ctx context.Context, spec *schemas.DynamicScorerSpec) (config *schemas.SyncedConfig, failure, token *dynamic.Failure) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if spec.Scoring != nil && spec.Scoring.Auth != nil && spec.Location != schemas.LocationInternal {
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
