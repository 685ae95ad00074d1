package window

import (
	"maps"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/series"
)

// Bounds of what is asked for.
const (
	// MaxLength is the longest window.
	MaxLength = time.Hour
	// MaxSeries is of how many series of one metric a source's window holds
	// the past; of a metric with more it holds none.
	MaxSeries = 1000
)

// Ask is what somebody wants to read.
type Ask struct {
	Metric string
	// Labels, if any, are what a series must have.
	Labels map[string]string
	// Length is how far to look back from the last event.
	Length time.Duration
}

// Selection is all that is asked for. It does not change.
type Selection struct {
	metrics []string // sorted
	// labels holds the alternatives of a metric, nil for all its series.
	labels  map[string][]map[string]string
	longest time.Duration
}

// Select adds asks up.
func Select(asks []Ask) *Selection {
	s := &Selection{labels: map[string][]map[string]string{}}
	for _, ask := range asks {
		s.longest = max(s.longest, ask.Length)
		before, known := s.labels[ask.Metric]
		switch {
		case len(ask.Labels) == 0 || known && before == nil:
			s.labels[ask.Metric] = nil
		case !slices.ContainsFunc(before, func(m map[string]string) bool { return maps.Equal(m, ask.Labels) }):
			s.labels[ask.Metric] = append(before, ask.Labels)
		}
	}
	s.metrics = slices.Sorted(maps.Keys(s.labels))
	return s
}

// Empty reports whether nothing is asked for.
func (s *Selection) Empty() bool { return len(s.metrics) == 0 }

// Longest is the greatest length that is asked for.
func (s *Selection) Longest() time.Duration { return s.longest }

// Metrics are the names that are asked for, sorted.
func (s *Selection) Metrics() []string { return s.metrics }

// Within reports whether wider selects every series that s selects.
func (s *Selection) Within(wider *Selection) bool {
	for _, metric := range s.metrics {
		all, known := wider.labels[metric]
		switch {
		case !known:
			return false
		case all == nil:
			continue
		case s.labels[metric] == nil:
			return false
		}
		for _, labels := range s.labels[metric] {
			if !slices.ContainsFunc(all, func(of map[string]string) bool { return includes(labels, of) }) {
				return false
			}
		}
	}
	return true
}

// includes reports whether labels has all of what.
func includes(labels, what map[string]string) bool {
	for name, value := range what {
		if has, ok := labels[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// pick appends the samples that are selected, in order, and returns the
// metrics that have too many.
func (s *Selection) pick(to, samples []series.Sample) (picked []series.Sample, over []string) {
	for _, metric := range s.metrics {
		from := len(to)
		for _, sample := range series.Named(samples, metric) {
			if selects(s.labels[metric], sample.Series) {
				to = append(to, sample)
			}
		}
		if len(to)-from > MaxSeries {
			to, over = to[:from], append(over, metric)
		}
	}
	return to, over
}

func selects(alternatives []map[string]string, of series.Series) bool {
	if alternatives == nil {
		return true
	}
	return slices.ContainsFunc(alternatives, of.Matches)
}
