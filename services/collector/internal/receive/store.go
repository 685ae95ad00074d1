// Package receive takes metrics that others send: by Prometheus' remote write,
// or by OTLP over HTTP. It keeps the newest value of each series, and gives
// them as snapshots.
package receive

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/sample"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// point is one value of one series.
type point struct {
	name   string
	labels map[string]string
	value  float64
	unit   string
	// nanos is the sender's time of it.
	nanos int64
	// more: the value is to be added to what there is (a delta).
	more bool
	// gone: the sender says that the series has ended.
	gone bool
}

// maxPoints bounds those of one request: a small one may hold millions.
const maxPoints = 100_000

// held is the newest value of a series.
type held struct {
	point
	at time.Time // received
}

// store holds the newest values. It is safe for concurrent use.
type store struct {
	wants  func(name []byte) bool
	most   int
	expire time.Duration

	mu     sync.Mutex
	series map[string]*held
	ever   bool // something was received
	left   map[sample.Reason]sample.Left
}

// Reasons for which a point is left out.
const (
	tooMany   sample.Reason = "TooManySeries" // beyond limits.samples
	outdated  sample.Reason = "OutOfOrder"    // there is a newer value
	again     sample.Reason = "Duplicate"     // a delta that was added already
	unmatched sample.Reason = "Unsupported"   // no number can be made of it
)

func newStore(wants func([]byte) bool, most int, expire time.Duration) *store {
	return &store{wants: wants, most: most, expire: expire, series: map[string]*held{}, left: map[sample.Reason]sample.Left{}}
}

// put takes points, and returns how many are left out because there are too
// many series.
func (s *store) put(points []point, now time.Time) (refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ever = true
	for i := range points {
		if !s.take(&points[i], now) {
			refused++
		}
	}
	return refused
}

func (s *store) take(p *point, now time.Time) bool {
	if !s.wants([]byte(p.name)) {
		return true
	}
	key := (&schemas.Sample{Name: p.name, Labels: p.labels}).Series()
	old := s.series[key]
	switch {
	case old != nil && p.nanos < old.nanos:
		s.leave(outdated, key)
		return true
	case old != nil && p.more && p.nanos == old.nanos && p.nanos != 0:
		s.leave(again, key) // a sender that had no answer repeats an export
		return true
	case p.gone:
		delete(s.series, key)
		return true
	case old == nil && len(s.series) >= s.most:
		s.leave(tooMany, fmt.Sprintf("%s: there are %d series, at most limits.samples are taken", key, len(s.series)))
		return false
	}
	value := p.value
	if p.more && old != nil {
		value += old.value
	}
	s.series[key] = &held{point: *p, at: now}
	s.series[key].value = value
	return true
}

// note counts what cannot be taken.
func (s *store) note(reason sample.Reason, example string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(reason, example)
}

func (s *store) leave(reason sample.Reason, example string) {
	l, known := s.left[reason]
	if !known {
		l = sample.Left{Reason: reason, Example: fmt.Sprintf("%.300s", example)}
	}
	l.Count++
	s.left[reason] = l
}

// sink takes series; see exposition.Sink.
type sink interface {
	Wants(name []byte) bool
	Add(labels sample.Labels, value float64, unit string)
}

// read hands every series to into that was received of late, forgets the
// others, and returns what was left out since the last time.
func (s *store) read(into sink, now time.Time) (left []sample.Left, ever bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, h := range s.series {
		if now.Sub(h.at) > s.expire {
			delete(s.series, key)
			continue
		}
		if into.Wants([]byte(h.name)) {
			into.Add(sample.LabelsOf(h.labels), h.value, h.unit)
		}
	}
	for _, l := range s.left {
		left = append(left, l)
	}
	slices.SortFunc(left, func(a, b sample.Left) int { return len(a.Reason) - len(b.Reason) })
	clear(s.left)
	return left, s.ever
}
