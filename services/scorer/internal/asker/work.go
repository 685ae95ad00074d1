package asker

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spokewire/spokewire/internal/dynamic"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// Times of a call.
const (
	minTimeout = 5 * time.Second
	maxTimeout = 30 * time.Second
)

// outcome is what one call brought. inCluster says that a failure is the
// cluster's, not that of a scoring API that clusters share.
type outcome struct {
	results   []dynamic.Result
	by        dynamic.Answered
	failure   *dynamic.Failure
	inCluster bool
	took      time.Duration
}

// work makes one call: it has the cluster's collector find out what there is
// to know, and posts that to the scoring API, unless the collector did.
func (o *Options) work(ctx context.Context, s *dynamic.Scorer, cluster string, q *dynamic.Question) outcome {
	out := outcome{by: dynamic.Answered{URL: s.URL}}
	timeout := min(max(s.Interval, minTimeout), maxTimeout)
	var series []dynamic.Series
	if q != nil {
		finding, f := o.find(ctx, cluster, q, timeout)
		if f != nil {
			out.failure, out.inCluster = f, true
			return out
		}
		if finding.Read != "" {
			out.by.Input = &schemas.ScoreInput{Kind: "query", Name: finding.Read}
		}
		if s.Internal {
			out.results, out.failure = dynamic.DecodeAnswer(finding.Answer)
			out.inCluster = true
			return out
		}
		if series = finding.Series; len(series) == 0 {
			out.failure, out.inCluster = dynamic.Failf(dynamic.NoData, "the collector of %s found no series", cluster), true
			return out
		}
	}
	out.results, out.failure = o.post(ctx, s, series, timeout)
	return out
}

// find asks the cluster's collector.
func (o *Options) find(ctx context.Context, cluster string, q *dynamic.Question, timeout time.Duration) (*dynamic.Finding, *dynamic.Failure) {
	if o.Clusters == nil {
		return nil, notCollected(cluster)
	}
	payload, err := json.Marshal(q)
	if err != nil {
		return nil, dynamic.FailureOf(err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	packed, err := o.Clusters.Request(ctx, events.QuerySubject(cluster), payload)
	if err != nil {
		return nil, notFound(cluster, timeout, err)
	}
	return dynamic.DecodeFinding(packed)
}

// notFound says why a cluster's collector found nothing out.
func notFound(cluster string, timeout time.Duration, err error) *dynamic.Failure {
	switch {
	case errors.Is(err, events.ErrNoResponder):
		return notCollected(cluster)
	case errors.Is(err, context.DeadlineExceeded):
		return dynamic.Failf(dynamic.Timeout, "the collector of %s did not answer within %s", cluster, timeout)
	}
	var refusal *events.Refusal
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case events.RefusedBusy, events.RefusedTimeout:
			return dynamic.Failf(dynamic.Timeout, "the collector of %s has too much to do: %v", cluster, refusal)
		case events.RefusedTooLarge:
			return dynamic.Failf(dynamic.TooLarge, "the collector of %s: %v: aggregate in the query, or raise source.params.step", cluster, refusal)
		}
	}
	return dynamic.Failf(dynamic.Unreachable, "the collector of %s: %v", cluster, err)
}

func notCollected(cluster string) *dynamic.Failure {
	return dynamic.Failf(dynamic.NotCollected, "no collector of %s answers: is it cut off, or has it no dynamicScoring.hosts in its configuration?", cluster)
}

// post asks the scoring API.
func (o *Options) post(ctx context.Context, s *dynamic.Scorer, series []dynamic.Series, timeout time.Duration) ([]dynamic.Result, *dynamic.Failure) {
	body, f := dynamic.Request(series)
	if f != nil {
		return nil, f
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := o.API.Post(ctx, s.URL, s.Token, body, dynamic.MaxAnswer)
	if err != nil {
		return nil, dynamic.FailureOf(err)
	}
	return dynamic.DecodeAnswer(answer)
}
