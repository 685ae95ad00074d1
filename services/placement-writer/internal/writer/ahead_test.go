package writer

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/internal/placement"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// gate lets all pass until it is shut.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil while it is open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
	g.shut = nil
}

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut == nil {
		return nil
	}
	select {
	case <-shut:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gated is a bus on which decisions come back, and leave, only through gates.
type gated struct {
	decider.Bus
	back  gate
	leave map[string]*gate // by subject
}

func (g *gated) Watch(ctx context.Context, w events.Watch, fold func(events.Update) error) error {
	return g.Bus.Watch(ctx, w, func(u events.Update) error {
		if w.Stream == events.StreamDecisions {
			if err := g.back.pass(ctx); err != nil {
				return err
			}
		}
		return fold(u)
	})
}

func (g *gated) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	if leave := g.leave[subject]; leave != nil {
		if err := leave.pass(ctx); err != nil {
			return events.Ack{}, err
		}
	}
	return g.Bus.Publish(ctx, subject, e, opts...)
}

// balanced starts a writer on a gated bus, with Placement p on a and no other.
// What is decided from then on does not come back.
func balanced(t *testing.T) (hub, *eventstest.Bus, *gated, func(name, want string) *schemas.PlacementDecision) {
	b := eventstest.NewBus()
	h, g := hub{t, b}, &gated{Bus: b.Peer(), leave: map[string]*gate{decisionSubject("p"): {}, decisionSubject("q"): {}}}
	start(t, g, nil)
	h.fleet("a", "b")
	h.score("a", 50, time.Hour)
	h.score("b", 10, time.Hour)
	synctest.Wait() // or it may be decided before it has scores
	h.place("p", onGPU)
	synctest.Wait()
	g.back.close()
	decided := func(name, want string) *schemas.PlacementDecision {
		t.Helper()
		synctest.Wait()
		d := h.last(name)
		if d == nil || !slices.Equal(placement.SelectedNames(d), []string{want}) {
			t.Fatalf("%s selects %v, want %s", name, d, want)
		}
		return d
	}
	decided("p", "a")
	return h, b, g, decided
}

// counts fails unless a decision says that it counts that one of p.
func counts(t *testing.T, d *schemas.PlacementDecision, p *schemas.PlacementDecision) {
	t.Helper()
	want := schemas.Ahead{Namespace: "default", Name: "p", After: p.Previous, Now: p.Now}
	if len(d.Ahead) == 0 || d.Ahead[0].Name != "p" || d.Ahead[0].After != want.After || !d.Ahead[0].Now.Equal(want.Now) {
		t.Errorf("it counts %+v, want %+v", d.Ahead, want)
	}
}

// TestOfSeveralDecisionsThatDidNotComeBackTheLastCounts: Balance counts it,
// and the decision names it, not the one before it.
func TestOfSeveralDecisionsThatDidNotComeBackTheLastCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, g, decided := balanced(t)
		h.score("b", 60, time.Hour)
		decided("p", "b")
		time.Sleep(time.Second)
		h.score("a", 70, time.Hour)
		last := decided("p", "a")
		h.place("q", onBalance)
		counts(t, decided("q", "b"), last)

		g.back.open()
		synctest.Wait()
		h.place("r", onBalance)
		if d := decided("r", "a"); len(d.Ahead) > 0 {
			t.Errorf("it counts %+v although all came back", d.Ahead)
		}
	})
}

// TestADecisionOnItsWayCounts before one that is stored, and that one again
// where it fails.
func TestADecisionOnItsWayCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, b, g, decided := balanced(t)
		h.score("b", 60, time.Hour)
		stored := decided("p", "b")
		time.Sleep(time.Second)
		leave := g.leave[decisionSubject("p")]
		leave.close()
		h.score("a", 70, time.Hour)
		synctest.Wait()
		h.place("q", onBalance)
		d := decided("q", "b") // p is on its way to a
		_, sequences := decisions(t, b, "p")
		if len(d.Ahead) != 1 || d.Ahead[0].After != sequences[1] || !d.Ahead[0].Now.After(stored.Now) {
			t.Errorf("it counts %+v, want what follows %d", d.Ahead, sequences[1])
		}
		time.Sleep(publishTimeout)
		h.place("r", onBalance) // q and p, whose try has failed, are on b
		counts(t, decided("r", "a"), stored)
	})
}

// publishTimeout is how long package decider tries.
const publishTimeout = 30*time.Second + time.Millisecond

// TestADecisionOfAnotherReplicaCounts once the leader has told of it.
func TestADecisionOfAnotherReplicaCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, b, g, decided := balanced(t)
		leave := g.leave[decisionSubject("p")]
		leave.close()
		other := &gated{Bus: b.Peer(), leave: map[string]*gate{decisionSubject("q"): {}}}
		start(t, other, nil)
		synctest.Wait()
		other.leave[decisionSubject("q")].close()
		h.score("b", 60, time.Hour)
		theirs := decided("p", "b")
		leave.open() // too late
		synctest.Wait()
		h.place("q", onBalance)
		d := decided("q", "a")
		_, sequences := decisions(t, b, "p")
		if last := sequences[len(sequences)-1]; len(sequences) != 2 || len(d.Ahead) != 1 || d.Ahead[0].After != last-1 || !d.Ahead[0].Now.Equal(theirs.Now) {
			t.Errorf("of %v it counts %+v, want the last", sequences, d.Ahead)
		}
	})
}

// TestTheDecisionOfADeletedPlacementCountsNoMore, although it is on its way.
func TestTheDecisionOfADeletedPlacementCountsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, g, decided := balanced(t)
		leave := g.leave[decisionSubject("p")]
		leave.close()
		h.place("p", onGPU, func(p *schemas.Placement) { p.Generation = 2 })
		synctest.Wait()
		h.delete(events.KindPlacement, "default", "p", "uid-p")
		h.place("q", onBalance)
		if d := decided("q", "a"); len(d.Ahead) > 0 {
			t.Errorf("it counts %+v", d.Ahead)
		}
		leave.open()
	})
}
