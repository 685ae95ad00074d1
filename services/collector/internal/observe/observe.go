// Package observe takes the snapshots of one source: it scrapes at an
// interval, makes an event of what was selected and stores it in the outbox.
package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
	"github.com/spokewire/spokewire/services/collector/internal/scrape"
)

// Scraper fetches the current samples. scrape.Target is one.
type Scraper interface {
	Scrape(ctx context.Context) (sample.Snapshot, error)
}

// Outbox stores a snapshot. outbox.Store is one.
type Outbox interface {
	Put(source outbox.Source, taken time.Time, e event.Event) (uint64, error)
}

// Options of a Source.
type Options struct {
	Source   outbox.Source
	Interval time.Duration
	Scraper  Scraper
	Outbox   Outbox
	Metrics  *Metrics
	Tracer   trace.Tracer
	Log      *slog.Logger
}

const (
	// maxStartDelay bounds the random wait before the first scrape, by which
	// collectors that start together do not scrape together.
	maxStartDelay = 3 * time.Second
	// maxBackoff bounds the time between scrapes of a target that fails,
	// unless its interval is longer.
	maxBackoff = 30 * time.Second
)

// Source scrapes one source.
type Source struct {
	Options
	log *slog.Logger

	mu      sync.Mutex
	last    error // of the last scrape
	samples int   // of the last good one
	scraped bool
	// warned is which reasons for leaving series out were logged.
	warned map[sample.Reason]bool
}

// New returns a Source.
func New(o Options) *Source {
	return &Source{Options: o, log: o.Log.With("source", o.Source.Name), warned: map[sample.Reason]bool{}}
}

// Run scrapes until ctx ends, and returns its error. A scrape never overlaps
// another of the same source: one that takes longer than the interval is
// followed by the next at once. After failures the interval doubles, up to a
// bound.
func (s *Source) Run(ctx context.Context) error {
	failures := 0
	delay := time.Duration(rand.Int64N(int64(min(s.Interval, maxStartDelay))))
	for {
		if !pause.For(ctx, delay) {
			return ctx.Err()
		}
		began := time.Now()
		if s.observe(ctx) == nil {
			failures = 0
		} else {
			failures++
		}
		delay = max(s.pause(failures)-time.Since(began), 0)
	}
}

// pause is the time from the start of one scrape to the next.
func (s *Source) pause(failures int) time.Duration {
	d := s.Interval
	for ; failures > 1 && d < maxBackoff; failures-- {
		d *= 2
	}
	return min(d, max(s.Interval, maxBackoff))
}

// observe takes one snapshot. The error has been dealt with.
func (s *Source) observe(ctx context.Context) error {
	ctx, span := s.Tracer.Start(ctx, "collector.observe", trace.WithNewRoot(), trace.WithAttributes(
		attribute.String("spokewire.cluster", s.Source.Cluster), attribute.String("spokewire.source", s.Source.Name)))
	defer span.End()
	taken := time.Now()
	snapshot, err := s.Scraper.Scrape(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.Metrics.scraped(s.Source.Name, resultOf(err), time.Since(taken), snapshot)
	s.warnOfLeft(snapshot.Left)
	if err == nil {
		err = s.store(ctx, taken, snapshot)
	}
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	s.remember(len(snapshot.Samples), err)
	return err
}

func (s *Source) store(ctx context.Context, taken time.Time, snapshot sample.Snapshot) error {
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(s.Source.Cluster, s.Source.Name),
		&schemas.Metrics{Samples: snapshot.Samples})
	if err != nil {
		return err
	}
	e.SetExtension(events.ExtPartitionKey, s.Source.Cluster)
	events.Inject(ctx, &e)
	sequence, err := s.Outbox.Put(s.Source, taken, e)
	if err != nil {
		s.Metrics.lost(s.Source.Name)
		return err
	}
	s.log.Debug("snapshot stored", "sequence", sequence, "samples", len(snapshot.Samples))
	return nil
}

// remember keeps the outcome for Status and logs what is new.
func (s *Source) remember(samples int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch was := s.last; {
	case err != nil && (was == nil || resultOf(was) != resultOf(err)):
		s.log.Warn("no snapshot: the source's last one ages", "reason", resultOf(err), "error", err)
	case err == nil && was != nil:
		s.log.Info("snapshots are taken again", "samples", samples)
	}
	s.last, s.scraped = err, true
	if err == nil {
		s.samples = samples
	}
}

// warnOfLeft logs each reason that the user did not ask for once, with an
// example, until it goes and comes back.
func (s *Source) warnOfLeft(left []sample.Left) {
	now := map[sample.Reason]bool{}
	for _, l := range left {
		if l.Reason.ByRule() {
			continue
		}
		now[l.Reason] = true
		if !s.warned[l.Reason] {
			s.log.Warn("series are left out", "reason", string(l.Reason), "count", l.Count, "example", fmt.Sprintf("%.200s", l.Example))
		}
	}
	s.warned = now
}

// Status says in a line how the last scrape went.
func (s *Source) Status() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.scraped:
		return "not scraped yet"
	case s.last != nil:
		return fmt.Sprintf("no snapshot (%s): %v", resultOf(s.last), s.last)
	}
	return fmt.Sprintf("%d samples", s.samples)
}

// resultOf is the class of a scrape's outcome.
func resultOf(err error) string {
	var failed *scrape.Error
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &failed):
		return string(failed.Reason)
	}
	return "NotStored"
}
