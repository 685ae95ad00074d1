package eventstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
)

const scoreA, scoreB, scoreC = "sw.score.a.x", "sw.score.b.x", "sw.score.c.y"

// pastOf lists "SUBJECT ID" of what the scores were at a position.
func pastOf(t *testing.T, h events.Historian, position uint64, filters ...string) ([]string, events.Extent) {
	t.Helper()
	found := map[string]bool{}
	p := events.Past{Stream: events.StreamScores, Subjects: filters, Position: position}
	extent, err := h.Past(timeout(t), p, func(m events.Message) error {
		if m.Stream != p.Stream || m.Sequence == 0 || m.Sequence > extentOr(position) || m.ReceivedAt.IsZero() {
			t.Errorf("at %d there is %+v", position, m)
		}
		found[m.Subject+" "+idOf(m)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if time.Since(extent.Now).Abs() > time.Minute {
		t.Errorf("the server's time is %v", extent.Now)
	}
	slices.Sort(extent.Lost)
	slices.Sort(extent.Later)
	return slices.Sorted(maps.Keys(found)), extent
}

func extentOr(position uint64) uint64 {
	if position == 0 {
		return 1 << 62
	}
	return position
}

func testPast(t *testing.T, f Fixture) {
	first := mustPublish(t, f.Bus, scoreA, plainEvent("a1"))
	second := mustPublish(t, f.Bus, scoreB, plainEvent("b1"))
	third := mustPublish(t, f.Other, scoreA, plainEvent("a2"))
	last := mustPublish(t, f.Bus, scoreC, plainEvent("c1"))
	for name, tc := range map[string]struct {
		position uint64
		filters  []string
		want     string
		later    string
		ended    bool
	}{
		"first":      {position: first.Sequence, want: "a1", later: scoreB + " " + scoreC},
		"second":     {position: second.Sequence, want: "a1 b1", later: scoreC},
		"third":      {position: third.Sequence, want: "a2 b1", later: scoreC},
		"end":        {want: "a2 b1 c1"},
		"filtered":   {position: second.Sequence, filters: []string{"sw.score.*.x"}, want: "a1 b1"},
		"two":        {filters: []string{scoreA, "sw.score.*.y"}, want: "a2 c1"},
		"nothing":    {filters: []string{"sw.score.z.*"}},
		"beyond end": {position: last.Sequence + 7, want: "a2 b1 c1", ended: true},
	} {
		got, extent := pastOf(t, f.Bus, tc.position, tc.filters...)
		var ids []string
		for _, line := range got {
			_, id, _ := strings.Cut(line, " ")
			ids = append(ids, id)
		}
		if strings.Join(ids, " ") != tc.want || strings.Join(extent.Later, " ") != tc.later || extent.Ended != tc.ended || len(extent.Lost) > 0 {
			t.Errorf("%s: %v with %+v, want %+v", name, ids, extent, tc)
		}
		if want := min(extentOr(tc.position), last.Sequence); extent.Position != want {
			t.Errorf("%s: read up to %d, want %d", name, extent.Position, want)
		}
	}
}

// testPastLost: a subject of which the stream keeps no more events is told
// apart from one that is new.
func testPastLost(t *testing.T, f Fixture) {
	before := mustPublish(t, f.Bus, scoreA, plainEvent("a0"))
	mustPublish(t, f.Bus, scoreB, plainEvent("b0"))
	for n := range 64 {
		mustPublish(t, f.Bus, scoreA, plainEvent(fmt.Sprintf("a%d", n+1)))
	}
	got, extent := pastOf(t, f.Bus, before.Sequence)
	if len(got) > 0 || !slices.Equal(extent.Lost, []string{scoreA}) || !slices.Equal(extent.Later, []string{scoreB}) {
		t.Errorf("%v with %+v, want %s to be lost", got, extent, scoreA)
	}
}

// testPastOfMany: more subjects than one request can ask for.
func testPastOfMany(t *testing.T, f Fixture) {
	const many = 2100
	for n := range many {
		f.Store(fmt.Sprintf("sw.score.c%d.x", n), events.Header{"ce-id": {"1"}}, []byte("{}"))
	}
	mustPublish(t, f.Bus, scoreC, plainEvent("last")) // behind all of them
	if got, extent := pastOf(t, f.Bus, 0, "sw.score.*.x"); len(got) != many || len(extent.Later)+len(extent.Lost) > 0 {
		t.Errorf("%d found with %+v, want %d", len(got), extent, many)
	}
}

func testPastEnds(t *testing.T, f Fixture) {
	mustPublish(t, f.Bus, scoreA, plainEvent("a1"))
	own := errors.New("own")
	if _, err := f.Bus.Past(timeout(t), events.Past{Stream: events.StreamScores}, func(events.Message) error { return own }); !errors.Is(err, own) {
		t.Errorf("got %v, want the function's error", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	pass := func(events.Message) error { return nil }
	for name, tc := range map[string]struct {
		ctx  context.Context
		past events.Past
		want error
	}{
		"no name":   {timeout(t), events.Past{}, events.ErrInvalidOption},
		"no filter": {timeout(t), events.Past{Stream: events.StreamScores, Subjects: []string{"a..b"}}, events.ErrInvalidOption},
		"no stream": {timeout(t), events.Past{Stream: "SW_NOTHING"}, events.ErrNotFound},
		"no time":   {ended, events.Past{Stream: events.StreamScores}, context.Canceled},
	} {
		if _, err := f.Bus.Past(tc.ctx, tc.past, pass); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
}

func testNext(t *testing.T, f Fixture) {
	first := mustPublish(t, f.Bus, scoreA, plainEvent("a1"))
	mustPublish(t, f.Bus, scoreB, plainEvent("b1"))
	third := mustPublish(t, f.Bus, scoreA, plainEvent("a2"))
	for after, want := range map[uint64]string{0: "a1", first.Sequence: "a2", first.Sequence + 1: "a2"} {
		m, err := f.Bus.Next(timeout(t), events.StreamScores, scoreA, after)
		if err != nil || idOf(m) != want || m.ReceivedAt.After(time.Now().Add(time.Minute)) {
			t.Errorf("after %d: %+v (%v), want %s", after, m, err, want)
		}
	}
	if m, err := f.Bus.Next(timeout(t), events.StreamScores, "sw.score.*.x", first.Sequence); err != nil || idOf(m) != "b1" {
		t.Errorf("of either: %+v (%v), want b1", m, err)
	}
	if _, err := f.Bus.Next(timeout(t), events.StreamScores, "a..b", 0); !errors.Is(err, events.ErrInvalidOption) {
		t.Errorf("of no filter: %v", err)
	}
	if _, err := f.Bus.Next(timeout(t), events.StreamScores, scoreA, third.Sequence); !errors.Is(err, events.ErrNotFound) {
		t.Errorf("after the last: %v", err)
	}
}
