package decider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/decider/decidertest"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// echo decides, for each metric, a score of the same cluster, and notes what
// it is asked.
type echo struct {
	*decider.Loop[*score]
	mu      sync.Mutex // of said: a timer is no edge between goroutines
	said    []string
	jobs    []*score
	decided []time.Time // when it was called, in server time
	next    time.Time
}

type score struct {
	cluster string
	odd     bool // no score
}

func (s *score) Payload() schemas.Payload {
	if s.odd {
		return &schemas.Score{}
	}
	one := int32(1)
	return &schemas.Score{
		Cluster: s.cluster, Scorer: "s", ValidFor: schemas.Duration(time.Hour),
		Items: []schemas.ScoreItem{{Name: "s", Value: &one, Reason: schemas.ScoreComputedReason}},
	}
}

func (e *echo) Fold(u events.Update) {
	if u.Kind == events.Stored && u.Message.Stream != events.StreamScores {
		subject, err := events.ParseSubject(u.Message.Subject)
		if err != nil {
			e.Bury(u.Message, err)
			return
		}
		e.jobs = append(e.jobs, &score{cluster: subject.Cluster})
	}
}

func (e *echo) Begin() { e.say("begin") }

func (e *echo) say(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, what)
}

// heard returns what was said since, sorted.
func (e *echo) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := slices.Sorted(slices.Values(e.said))
	e.said = nil
	return said
}

func (e *echo) Decide(ctx context.Context) time.Time {
	e.decided = append(e.decided, e.Now())
	for len(e.jobs) > 0 && e.Room() {
		s := e.jobs[0]
		e.jobs = e.jobs[1:]
		e.Start(ctx, decider.Job[*score]{Content: s, Type: schemas.TypeScoreComputed, Source: "/test", Key: s.cluster, Subject: events.ScoreSubject(s.cluster, "s")})
	}
	return e.next
}

func (e *echo) Settle(out *decider.Outcome[*score]) {
	if out.Verdict() == decider.Outrun && out.Last.Sequence == 0 {
		return // without what was first
	}
	names := map[decider.Verdict]string{decider.Stored: "stored", decider.Outrun: "outrun", decider.Failed: "failed", decider.Refused: "refused"}
	e.say(names[out.Verdict()] + " " + out.Content.cluster)
}

func newLoop(t *testing.T, b decider.Bus, more ...events.Watch) (*echo, error) {
	t.Helper()
	watches := append([]events.Watch{{Stream: events.StreamMetrics}}, more...)
	e := &echo{}
	var err error
	e.Loop, err = decider.New(decidertest.Config(t, b, nil), decider.Spec{
		Service: "scorer", Span: "test", Stream: events.StreamScores, Watches: watches, MaxFold: 4,
	}, e)
	if err != nil {
		t.Fatal(err)
	}
	return e, err
}

func metric(t *testing.T, b events.Publisher, cluster string) {
	t.Helper()
	e, err := events.New(schemas.TypeMetricsObserved, events.ClusterSource(cluster, "x"), &schemas.Metrics{Samples: []schemas.Sample{}})
	if err == nil {
		_, err = b.Publish(context.Background(), events.MetricSubject(cluster, "x"), e)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// expect compares what was said since, in any order.
func (e *echo) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if said := e.heard(); !slices.Equal(said, want) {
		t.Fatalf("said %q, want %q", said, want)
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		metric(t, b, "a")
		own := b.Peer()
		e, _ := newLoop(t, own)
		if e.Ready() == nil {
			t.Error("ready before it runs")
		}
		stop := decidertest.Run(t, e)
		e.expect(t, "begin", "stored a")
		metric(t, b, "b")
		e.expect(t, "stored b")
		metric(t, b, "b") // expects none before it
		e.expect(t, "outrun b")
		own.Disconnect()
		synctest.Wait()
		if e.Ready() == nil || e.Synced() {
			t.Error("ready although the stream is not followed")
		}
		metric(t, b, "c")
		own.Reconnect()
		e.expect(t, "begin", "stored c")
		if err := e.Ready(); err != nil {
			t.Error(err)
		}
		stop()
		if e.Ready() == nil {
			t.Error("ready after its end")
		}
	})
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		odd   bool
		fault error
		want  string
	}{
		"no event":      {odd: true, want: "refused a"},
		"too large":     {fault: events.ErrTooLarge, want: "refused a"},
		"no answer":     {fault: errors.New("no answer"), want: "failed a"},
		"all went well": {want: "stored a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := eventstest.NewBus()
				s := &stuck{Bus: b, release: make(chan struct{}), err: tc.fault}
				close(s.release)
				e, _ := newLoop(t, s)
				e.jobs = []*score{{cluster: "a", odd: tc.odd}}
				decidertest.Run(t, e)
				e.expect(t, "begin", tc.want)
			})
		})
	}
}

func TestInFlightIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		s := &stuck{Bus: b, release: make(chan struct{})}
		e, _ := newLoop(t, s)
		decidertest.Run(t, e)
		for i := range 3 * decidertest.MaxInFlight {
			metric(t, b, fmt.Sprint("c", i))
		}
		synctest.Wait()
		if n := e.InFlight(); n != decidertest.MaxInFlight {
			t.Errorf("%d in flight, want %d", n, decidertest.MaxInFlight)
		}
		close(s.release)
		synctest.Wait()
		if n := len(b.Messages(events.StreamScores)); n != 3*decidertest.MaxInFlight {
			t.Errorf("%d scores", n)
		}
	})
}

func TestNextIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _ := newLoop(t, eventstest.NewBus())
		e.next = time.Now().Add(90 * time.Second)
		decidertest.Run(t, e)
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if last := e.decided[len(e.decided)-1]; last.Before(e.next) {
			t.Errorf("decided last at %v, want at %v", last, e.next)
		}
	})
}

// TestPositions: an expired event is behind, however far it was.
func TestPositions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := eventstest.NewBus()
		metric(t, b, "a")
		metric(t, b, "b")
		b.Purge(events.MetricSubject("b", "x"))
		e, _ := newLoop(t, b)
		if e.Covers(events.StreamMetrics, 1) {
			t.Error("covers what it has not read")
		}
		decidertest.Run(t, e)
		synctest.Wait()
		if !e.Covers(events.StreamMetrics, 2) || e.Covers(events.StreamMetrics, 3) {
			t.Errorf("positions %v, want 2", e.Positions)
		}
		metric(t, b, "c")
		synctest.Wait()
		if !e.Covers(events.StreamMetrics, 3) {
			t.Errorf("positions %v, want 3", e.Positions)
		}
	})
}

// TestInbox: what no stream brings comes to the loop by its inbox, and it is
// decided what follows.
func TestInbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inbox := make(chan func(), 1)
		e := &echo{}
		var err error
		e.Loop, err = decider.New(decidertest.Config(t, eventstest.NewBus(), nil), decider.Spec{
			Service: "scorer", Metrics: "scorer-beside", Span: "test", Stream: events.StreamScores,
			Watches: []events.Watch{{Stream: events.StreamMetrics}}, MaxFold: 4, Inbox: inbox,
		}, e)
		if err != nil {
			t.Fatal(err)
		}
		decidertest.Run(t, e)
		e.expect(t, "begin")
		inbox <- func() { e.jobs = append(e.jobs, &score{cluster: "a"}) }
		e.expect(t, "stored a")
	})
}
