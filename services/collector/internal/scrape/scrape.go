// Package scrape fetches the exposition of one endpoint and selects its
// samples. Whatever the endpoint does, a scrape ends at its timeout and
// holds no more than the source's limits.
package scrape

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/fetch"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/services/collector/internal/config"
	"github.com/spokewire/spokewire/services/collector/internal/derive"
	"github.com/spokewire/spokewire/services/collector/internal/exposition"
)

// keptBuffer is how large a buffer is kept from one scrape to the next.
const keptBuffer = 1 << 20

// Target scrapes one source. It is for one goroutine.
type Target struct {
	source config.Source
	rules  sample.Rules
	client *fetch.Client
	derive *derive.Tracker
	now    func() time.Time
	body   bytes.Buffer
}

// New returns a Target for a valid source. The error names the field.
func New(source config.Source) (*Target, error) {
	rules, err := source.Rules()
	if err != nil {
		return nil, err
	}
	client, err := fetch.New(source.Fetch())
	if err != nil {
		return nil, err
	}
	derived, err := source.Derived()
	if err != nil {
		return nil, err
	}
	return &Target{source: source, rules: rules, client: client, derive: derive.New(derived), now: time.Now}, nil
}

// Close closes idle connections.
func (t *Target) Close() { t.client.Close() }

// Scrape fetches and selects once. Every error is a *failure.Error. Where
// the exposition was read, the snapshot tells what was left out even then.
func (t *Target) Scrape(ctx context.Context) (sample.Snapshot, error) {
	var format exposition.Format
	taken := t.now()
	err := fetch.Within(ctx, t.source.Timeout.Duration, func(ctx context.Context) (err error) {
		format, err = t.fetch(ctx)
		return err
	})
	if err != nil {
		return sample.Snapshot{}, err
	}
	return t.selectFrom(format, taken)
}

// fetch fills t.body.
func (t *Target) fetch(ctx context.Context) (exposition.Format, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.source.URL, http.NoBody)
	if err != nil {
		return "", &failure.Error{Reason: failure.Unreachable, Err: err}
	}
	request.Header.Set("Accept", exposition.Accept)
	request.Header.Set("X-Prometheus-Scrape-Timeout-Seconds", fmt.Sprint(t.source.Timeout.Seconds()))
	answer, err := t.client.Do(request, &t.body)
	if err == nil {
		err = answer.OK()
	}
	if err != nil {
		return "", err
	}
	if t.source.Format != config.FormatAuto {
		return exposition.Format(t.source.Format), nil
	}
	format, err := exposition.FormatOf(answer.Header.Get("Content-Type"))
	if err != nil {
		return "", &failure.Error{Reason: failure.BadType, Err: err}
	}
	return format, nil
}

func (t *Target) selectFrom(format exposition.Format, taken time.Time) (sample.Snapshot, error) {
	selection := t.rules.Start()
	round := t.derive.Start(selection)
	err := exposition.Read(t.body.Bytes(), format, round)
	if t.body.Cap() > keptBuffer {
		t.body = bytes.Buffer{}
	}
	if err != nil {
		return sample.Snapshot{}, &failure.Error{Reason: failure.BadExposition, Err: err}
	}
	if err := round.End(taken); err != nil {
		return sample.Snapshot{}, err
	}
	snapshot, err := selection.Snapshot()
	if err != nil {
		return snapshot, &failure.Error{Reason: failure.TooManySamples, Err: err}
	}
	return snapshot, nil
}
