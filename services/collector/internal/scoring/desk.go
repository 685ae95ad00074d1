// Package scoring answers what the hub's dynamic scorers ask of this cluster:
// what their queries yield here, and what the scoring API here makes of it.
package scoring

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/internal/scoringapi"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/config"
)

// Bounds of the answers.
const (
	// Timeout is that of one answer, Concurrency how many are worked on at a
	// time, Waiting how many more may wait.
	Timeout     = 30 * time.Second
	Concurrency = 2
	Waiting     = 64
	// MaxQuestion is in bytes.
	MaxQuestion = 64 << 10
	userAgent   = "spokewire-collector"
	// nowhere is the only host that may be called where none may.
	nowhere = "none.invalid"
)

// Desk answers. It is safe for concurrent use.
type Desk struct {
	config  config.DynamicScoring
	hosts   scoringapi.Hosts
	tokens  scoringapi.Tokens
	api     *scoringapi.Client
	answers *prometheus.CounterVec
}

// New returns a Desk for a valid configuration. The error names the field.
func New(c config.DynamicScoring, metrics prometheus.Registerer) (*Desk, error) {
	tokens := scoringapi.Tokens(c.TokenDir)
	hosts := scoringapi.Hosts(c.Hosts)
	if len(hosts) == 0 {
		hosts = scoringapi.Hosts{nowhere}
	}
	api, err := scoringapi.New(scoringapi.Options{Tokens: tokens, CAFile: c.CAFile, Hosts: hosts, UserAgent: userAgent})
	if err != nil {
		return nil, fmt.Errorf("dynamicScoring: %w", err)
	}
	d := &Desk{config: c, hosts: hosts, tokens: tokens, api: api, answers: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "spokewire_collector_scoring_answers_total", Help: "Answers to the hub's dynamic scorers, by reason.",
	}, []string{"reason"})}
	return d, metrics.Register(d.answers)
}

// Close closes idle connections.
func (d *Desk) Close() { d.api.Close() }

// Service is the desk for the bus.
func (d *Desk) Service(cluster string) events.Service {
	return events.Service{
		Name: "collector", Version: "1.0.0", Description: "Finds out in its cluster what dynamic scorers ask.",
		Endpoints: []events.Endpoint{{Name: "query", Subject: events.QuerySubject(cluster), Answer: d.Answer}},
		// The bus refuses an answer that took too long; the desk says why.
		Timeout: Timeout + 5*time.Second, Concurrency: Concurrency, Waiting: Waiting, MaxPayload: MaxQuestion,
	}
}

// Answer answers one question. What the cluster has no answer to is a finding
// too; an error is about the process.
func (d *Desk) Answer(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	finding, err := d.find(ctx, payload)
	reason := "Answered"
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		failed := dynamic.FailureOf(err)
		finding, reason = &dynamic.Finding{Failure: failed}, failed.Reason
	}
	d.answers.WithLabelValues(reason).Inc()
	return finding.Encode()
}

// find works an answer out. Its error is a *dynamic.Failure, or that the
// process ends.
func (d *Desk) find(ctx context.Context, payload []byte) (*dynamic.Finding, error) {
	q, failed := dynamic.DecodeQuestion(payload)
	if failed != nil {
		return nil, failed
	}
	var finding dynamic.Finding
	if q.Source != nil {
		var err error
		if finding.Series, err = d.query(ctx, q.Source); err != nil {
			return nil, err
		}
		finding.Read = read(q.Source.URL, finding.Series)
	}
	if q.API == nil {
		return &finding, nil
	}
	body, failed := dynamic.Request(finding.Series)
	if failed != nil {
		return nil, failed
	}
	answer, err := d.api.Post(ctx, q.API.URL, q.API.Token, body, dynamic.MaxAnswer)
	if err != nil {
		return nil, told(q.API.URL, err)
	}
	// What is no answer of the API is not sent on, and could not be.
	if _, failed := dynamic.DecodeAnswer(answer); failed != nil {
		return nil, told(q.API.URL, failed)
	}
	finding.Series, finding.Answer = nil, dynamic.Quoted(answer)
	return &finding, nil
}

// told says of a failure which address it is about.
func told(address string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	f := dynamic.FailureOf(err)
	return dynamic.Failf(f.Reason, "%s: %s", address, f.Message)
}

// read says for people what a score was computed from.
func read(address string, series []dynamic.Series) string {
	values := 0
	for _, s := range series {
		values += len(s.Values)
	}
	host := address
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	return fmt.Sprintf("%d series with %d values, from %s", len(series), values, host)
}

// tokenFile is the file of a token, "" for none.
func (d *Desk) tokenFile(ref *schemas.TokenRef) (string, error) {
	if ref == nil {
		return "", nil
	}
	if _, err := d.tokens.Read(*ref); err != nil { // says what is wrong with it
		return "", err
	}
	return d.tokens.Path(*ref)
}
