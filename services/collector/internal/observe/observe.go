// Package observe takes the snapshots of one source: it scrapes at an
// interval, makes an event of what was selected and stores it in the outbox.
package observe

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spokewire/spokewire/internal/failure"
	"github.com/spokewire/spokewire/internal/pause"
	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
	"github.com/spokewire/spokewire/services/collector/internal/outbox"
)

// Scraper fetches the current samples. scrape.Target is one.
type Scraper interface {
	Scrape(ctx context.Context) (sample.Snapshot, error)
}

// Outbox stores a snapshot. outbox.Store is one.
type Outbox interface {
	Put(source outbox.Source, taken time.Time, e event.Event) (uint64, error)
}

// Fleet says how the samples of a source name the clusters that they are of.
type Fleet struct {
	// Label is that with the cluster's name; the samples are sent without it.
	Label string
	// Clusters are those that are spoken for.
	Clusters []string
}

// Options of a Source.
type Options struct {
	// Source has no cluster if there is a Fleet.
	Source   outbox.Source
	Fleet    *Fleet
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
	// left is what the last one lacks though nobody asked for that.
	left []sample.Left

	// named is, for each cluster of a fleet, whether it had samples when its
	// snapshot was last stored.
	named map[string]bool
}

// New returns a Source.
func New(o Options) *Source {
	return &Source{Options: o, log: o.Log.With("source", o.Source.Name), named: map[string]bool{}}
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
	parts := map[string][]schemas.Sample{s.Source.Cluster: snapshot.Samples}
	if s.Fleet != nil {
		parts, snapshot = snapshot.Split(s.Fleet.Label, s.Fleet.Clusters)
	}
	s.Metrics.scraped(s.Source.Name, resultOf(err), time.Since(taken), snapshot)
	s.rememberLeft(snapshot.Left)
	if err == nil {
		err = s.storeAll(ctx, taken, parts)
	}
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	s.remember(len(snapshot.Samples), err)
	return err
}

// storeAll stores a snapshot for each cluster that has samples, and an empty
// one for each that may have had some: what is gone must not stay. It tries
// all, and returns the first error.
func (s *Source) storeAll(ctx context.Context, taken time.Time, parts map[string][]schemas.Sample) error {
	if s.Fleet != nil {
		for _, cluster := range s.Fleet.Clusters {
			if had, stored := s.named[cluster]; parts[cluster] == nil && (had || !stored) {
				parts[cluster] = []schemas.Sample{}
			}
		}
	}
	var first error
	for _, cluster := range slices.Sorted(maps.Keys(parts)) {
		if err := s.store(ctx, taken, outbox.Source{Cluster: cluster, Name: s.Source.Name}, parts[cluster]); err != nil {
			first = cmp.Or(first, err)
			continue
		}
		s.named[cluster] = len(parts[cluster]) > 0
	}
	return first
}

func (s *Source) store(ctx context.Context, taken time.Time, source outbox.Source, samples []schemas.Sample) error {
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(source.Cluster, source.Name), &schemas.Metrics{Samples: samples})
	if err != nil {
		return err
	}
	e.SetExtension(events.ExtPartitionKey, source.Cluster)
	events.Inject(ctx, &e)
	sequence, err := s.Outbox.Put(source, taken, e)
	if err != nil {
		s.Metrics.lost(source.Name)
		return err
	}
	s.log.Debug("snapshot stored", "cluster", source.Cluster, "sequence", sequence, "samples", len(samples))
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

// rememberLeft keeps for Status what the user did not ask to leave out, and
// logs each reason once, with an example, until it goes and comes back.
func (s *Source) rememberLeft(all []sample.Left) {
	left := slices.DeleteFunc(slices.Clone(all), func(l sample.Left) bool { return l.Reason.ByRule() })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range left {
		if !slices.ContainsFunc(s.left, func(was sample.Left) bool { return was.Reason == l.Reason }) {
			s.log.Warn("the snapshot lacks something", "reason", string(l.Reason), "count", l.Count, "example", example(l))
		}
	}
	s.left = left
}

// example is what is wrong with the first of what was left out.
func example(l sample.Left) string { return fmt.Sprintf("%.200s", l.Example) }

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
	text := fmt.Sprintf("%d samples", s.samples)
	for _, l := range s.left {
		text += fmt.Sprintf("; %d left out (%s): %s", l.Count, l.Reason, example(l))
	}
	return text
}

// resultOf is the class of a scrape's outcome.
func resultOf(err error) string {
	if err == nil {
		return "ok"
	}
	return string(cmp.Or(failure.Of(err), "NotStored"))
}
