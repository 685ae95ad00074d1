package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func (f *fixture) dead(service string, sequence uint64) *fixture {
	f.t.Helper()
	letter := schemas.DeadLetter{
		Service: service, Stream: events.StreamMetrics, Sequence: sequence, Subject: "sw.metric.a.x",
		Reason: "NotJSON", Message: "it is not", ReceivedAt: f.at,
	}
	return f.put(events.DeadSubject(service, events.StreamMetrics, sequence), schemas.TypeDeadLetterWritten, "/test", &letter)
}

func (f *fixture) drop(id string, letters ...schemas.DroppedLetter) *fixture {
	f.t.Helper()
	return f.put(events.DropSubject(id), schemas.TypeDeadLetterDropped, "/test", &schemas.DeadDropped{Letters: letters})
}

func named(service string, sequence uint64) schemas.DroppedLetter {
	return schemas.DroppedLetter{Service: service, Stream: events.StreamMetrics, Sequence: sequence}
}

func TestLetters(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		put  func(f *fixture)
		want map[string]bool // whether it is dropped, by id
	}{
		"none":    {func(f *fixture) {}, map[string]bool{}},
		"one":     {func(f *fixture) { f.dead("scorer", 7) }, map[string]bool{"scorer/SW_METRICS-7": false}},
		"dropped": {func(f *fixture) { f.dead("scorer", 7).drop("1", named("scorer", 7)) }, map[string]bool{"scorer/SW_METRICS-7": true}},
		"others are dropped": {
			func(f *fixture) { f.dead("scorer", 7).drop("1", named("bridge", 7), named("scorer", 8)) },
			map[string]bool{"scorer/SW_METRICS-7": false},
		},
		"two, in two drops": {
			func(f *fixture) { f.dead("a", 1).dead("b", 2).drop("1", named("a", 1)).drop("2", named("b", 2)) },
			map[string]bool{"a/SW_METRICS-1": true, "b/SW_METRICS-2": true},
		},
		"buried after the drop": {
			func(f *fixture) { f.drop("1", named("scorer", 7)).dead("scorer", 7) },
			map[string]bool{"scorer/SW_METRICS-7": false},
		},
		"dropped again": {
			func(f *fixture) {
				f.drop("b", named("scorer", 7)).dead("scorer", 7).drop("a", named("scorer", 7))
			},
			map[string]bool{"scorer/SW_METRICS-7": true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			tt.put(f)
			got := map[string]bool{}
			for _, l := range Letters(f.state) {
				got[l.ID] = l.Dropped != nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
