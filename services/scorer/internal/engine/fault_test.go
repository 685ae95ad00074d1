package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	good := func(t *testing.T, source string) events.Header {
		header, _, err := events.Encode(newEvent(t, schemas.TypeMetricsObserved, source, samples(t, "x=1")))
		if err != nil {
			t.Fatal(err)
		}
		return header
	}
	for name, tc := range map[string]struct {
		subject, source, body string
		wantReason, wantField string
	}{
		"not JSON":            {"sw.metric.bad.node", "/clusters/bad/sources/node", `{"samples":`, "NotJSON", "data"},
		"not a number":        {"sw.metric.bad.node", "/clusters/bad/sources/node", `{"samples":[{"name":"x","value":NaN}]}`, "NotJSON", "samples[0].value"},
		"wrong type":          {"sw.metric.bad.node", "/clusters/bad/sources/node", `{"samples":[{"name":"x","value":"1"}]}`, "BadPayload", "samples[0].value"},
		"unknown field":       {"sw.metric.bad.node", "/clusters/bad/sources/node", `{"samples":[],"cluster":"c"}`, "BadPayload", "cluster"},
		"newline in name":     {"sw.metric.bad.node", "/clusters/bad/sources/node", `{"samples":[{"name":"x\ny","value":1}]}`, "BadPayload", "samples[0].name"},
		"speaks for another":  {"sw.metric.bad.node", "/clusters/c/sources/node", `{"samples":[{"name":"x","value":9}]}`, "WrongSource", "source"},
		"a subject of no use": {"sw.metric.b%ad.node", "/clusters/bad/sources/node", `{"samples":[]}`, "BadSubject", "subject"},
		"metrics as scorer":   {"sw.config.scorer._.bad", "/cli", `{"samples":[]}`, "WrongType", "type"},
		"metrics as cluster":  {"sw.hub.cluster._.bad", "/cli", `{"samples":[]}`, "WrongType", "type"},
		"a kind of no use":    {"sw.config.bogus._.x", "/cli", `{}`, "UnknownKind", "subject"},
		"an odd kind":         {"sw.config.b%ad._.x", "/cli", `{}`, "UnknownKind", "subject"},
		"metrics as score":    {"sw.score.bad.s", "/cli", `{"samples":[]}`, "WrongType", "type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				start(t, b, nil)
				apply(t, b, "s", `metric("x")`, nil)
				metric(t, b, "c", "node", "x=1")
				synctest.Wait()
				b.Store(tc.subject, good(t, tc.source), []byte(tc.body))
				synctest.Wait()
				letter := deadLetters(t, b)[tc.subject]
				if letter == nil || letter.Reason != tc.wantReason || letter.Field != tc.wantField || string(letter.Body) != tc.body {
					t.Fatalf("dead letter = %+v, want reason %s, field %s", letter, tc.wantReason, tc.wantField)
				}
				metric(t, b, "c", "node", "x=2")
				expect(t, b, "c", "s", "1 Computed", "2 Computed")
			})
		})
	}
}

// TestSnapshotsBeforeARefusedOneCount until they are too old, whether the
// scorer ran on or begins behind the refused one.
func TestSnapshotsBeforeARefusedOneCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		_, stop := start(t, b, nil)
		apply(t, b, "s", `metric("x")`, nil)
		metric(t, b, "c", "node", "x=1")
		synctest.Wait()
		header, _, err := events.Encode(newEvent(t, schemas.TypeMetricsObserved, events.ClusterSource("c", "node"), samples(t, "x=1")))
		if err != nil {
			t.Fatal(err)
		}
		b.Store(events.MetricSubject("c", "node"), header, []byte(`{}`))
		expect(t, b, "c", "s", "1 Computed")
		stop()
		_, stop = start(t, b, nil)
		expect(t, b, "c", "s", "1 Computed")
		apply(t, b, "t", `metric("x") + 1.0`, nil)
		expect(t, b, "c", "t", "2 Computed")
		time.Sleep(time.Minute)
		expect(t, b, "c", "s", "1 Computed", "- NoSample")
		stop()
		start(t, b, nil)
		expect(t, b, "c", "s", "1 Computed", "- NoSample")
		if n := len(b.Messages(events.StreamDead)); n != 1 {
			t.Errorf("%d dead letters, want 1", n)
		}
	})
}

func TestBadScorerIsVisible(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		metric(t, b, "c", "node", "x=1 zero=0")
		apply(t, b, "good", `metric("x")`, nil)
		apply(t, b, "s", `metric("x")`, nil)
		expect(t, b, "c", "s", "1 Computed")
		apply(t, b, "s", "", func(s *schemas.Scorer) {
			s.Spec.Items = []schemas.ScorerItem{{Name: "a", CEL: `metric("x"`}, {Name: "b", CEL: `metric("x")`}, {Name: "zero", CEL: `metric("x") / metric("zero")`}}
		})
		expect(t, b, "c", "s", "1 Computed", "- Failed, 1 Computed, - NotFinite")
		_, s := lastScore(t, b, "c", "s")
		if !strings.Contains(s.Items[0].Message, "spec.items[0].cel does not compile: line 1") {
			t.Errorf("message = %q", s.Items[0].Message)
		}
		letter := deadLetters(t, b)[events.ConfigSubject(events.KindScorer, "", "s")]
		if letter == nil || letter.Reason != "BadExpression" || letter.Field != "spec.items[0].cel" {
			t.Errorf("dead letter = %+v", letter)
		}
		apply(t, b, "s", `metric("x") + 1.0`, nil)
		expect(t, b, "c", "s", "1 Computed", "- Failed, 1 Computed, - NotFinite", "2 Computed")
		expect(t, b, "c", "good", "1 Computed")
	})
}

func TestTooManyScorers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		for i := range MaxScorers {
			apply(t, b, fmt.Sprintf("s%d", i), `1`, nil)
		}
		synctest.Wait()
		apply(t, b, "beyond", `1`, nil)
		synctest.Wait()
		letter := deadLetters(t, b)[events.ConfigSubject(events.KindScorer, "", "beyond")]
		if letter == nil || letter.Reason != "TooManyScorers" || e.live != MaxScorers {
			t.Fatalf("live = %d, letter = %+v", e.live, letter)
		}
		deleteScorer(t, b, "s0")
		apply(t, b, "beyond", `1`, nil)
		metric(t, b, "c", "node", "x=1")
		expect(t, b, "c", "beyond", "1 Computed")
	})
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		own := b.Peer()
		e, _ := start(t, own, nil)
		apply(t, b, "s", `metric("x")`, nil)
		metric(t, b, "c", "node", "x=1")
		metric(t, b, "d", "node", "x=1")
		synctest.Wait()
		own.Disconnect()
		synctest.Wait()
		if e.Ready() == nil {
			t.Error("ready although the streams are not followed")
		}
		metric(t, b, "c", "node", "x=2")
		b.Purge(events.MetricSubject("d", "node"))
		time.Sleep(10 * time.Second)
		expect(t, b, "c", "s", "1 Computed")
		own.Reconnect()
		expect(t, b, "c", "s", "1 Computed", "2 Computed")
		expect(t, b, "d", "s", "1 Computed", "- NoSample")
		if err := e.Ready(); err != nil {
			t.Error(err)
		}
	})
}

func TestConflictIsReread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		e, _ := start(t, b, nil)
		apply(t, b, "s", `metric("x")`, nil)
		metric(t, b, "c", "node", "x=1")
		synctest.Wait()
		// A purge is not told to who follows.
		b.Purge(events.ScoreSubject("c", "s"))
		metric(t, b, "c", "node", "x=2")
		expect(t, b, "c", "s", "2 Computed")
		if n := decidertest.Total(t, e.Counts.Conflicts); n != 1 {
			t.Errorf("%d conflicts, want 1", n)
		}
	})
}

func TestFailedPublishIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		f := &decidertest.Faulty{Bus: b}
		f.Before.Store(3)
		e, _ := start(t, f, nil)
		synctest.Wait()
		apply(t, b, "s", `metric("x")`, nil)
		metric(t, b, "c", "node", "x=1")
		synctest.Wait()
		if got := history(t, b, "c", "s"); len(got) != 0 {
			t.Fatalf("published at once after a failure: %v", got)
		}
		time.Sleep(2 * time.Second)
		expect(t, b, "c", "s", "1 Computed")
		if _, s := lastScore(t, b, "c", "s"); s.Origin == nil {
			t.Error("the origin was lost on the way")
		}
		if n := decidertest.Total(t, e.Counts.Failures); n != 3 {
			t.Errorf("%d failures counted, want 3", n)
		}
	})
}

// Requests for Placements are hub-bridge's to read and to refuse.
func TestPlacementsAreNotTheScorers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		for _, subject := range []string{"sw.config.placement.a.b", "sw.config.placement.a.b%ad"} {
			b.Store(subject, nil, []byte("{}"))
		}
		synctest.Wait()
		if letters := deadLetters(t, b); len(letters) > 0 {
			t.Errorf("it buried %v", letters)
		}
	})
}

// TestKindsThatOthersReadAreLetBe: each has a reader, and none is dead.
func TestKindsThatOthersReadAreLetBe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		start(t, b, nil)
		for _, kind := range events.ConfigKinds() {
			if kind != events.KindScorer {
				b.Store(events.ConfigSubject(kind, "default", "x"), events.Header{}, []byte(`{}`))
			}
		}
		synctest.Wait()
		if letters := deadLetters(t, b); len(letters) > 0 {
			t.Errorf("dead letters: %v", letters)
		}
	})
}
