package writer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/spokewire/spokewire/internal/decider"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// tardy is a bus on which everything takes its time: what is published is
// stored late and acknowledged later still, or not at all, what is read is old
// when it arrives.
type tardy struct {
	decider.Bus
	rng  *rand.Rand
	turn chan struct{} // one at a time draws from rng
}

func newTardy(b decider.Bus, seed uint64) *tardy {
	return &tardy{b, rand.New(rand.NewPCG(seed, 9)), make(chan struct{}, 1)}
}

func (s *tardy) draw(n int) int {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return s.rng.IntN(n)
}

func (s *tardy) dawdle() { time.Sleep(time.Duration(s.draw(40)) * time.Millisecond) }

func (s *tardy) Publish(ctx context.Context, subject string, e event.Event, opts ...events.PublishOption) (events.Ack, error) {
	s.dawdle()
	ack, err := s.Bus.Publish(ctx, subject, e, opts...)
	s.dawdle()
	if err == nil && s.draw(10) == 0 {
		return events.Ack{}, fmt.Errorf("publish to %s: %w", subject, context.DeadlineExceeded)
	}
	return ack, err
}

func (s *tardy) Last(ctx context.Context, stream, subject string) (events.Message, error) {
	s.dawdle()
	return s.Bus.Last(ctx, stream, subject)
}

func (s *tardy) Watch(ctx context.Context, w events.Watch, fold func(events.Update) error) error {
	return s.Bus.Watch(ctx, w, func(u events.Update) error {
		if s.draw(4) == 0 {
			s.dawdle()
		}
		return fold(u)
	})
}

// TestRacingReplicas: three replicas decide the same Placements while each
// sees and stores everything at another time, directly, in shadow, and where
// the mode changes all the time.
func TestRacingReplicas(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { race(t, seed) })
		})
	}
}

func race(t *testing.T, seed uint64) {
	b := eventstest.NewBus()
	h, rng := hub{t, b}, rand.New(rand.NewPCG(seed, 1))
	for i := range uint64(3) {
		start(t, newTardy(b.Peer(), 10*seed+i), nil)
	}
	names, scores := []string{"a", "b", "c", "d"}, map[string]int32{}
	h.fleet(names...)
	placements := []string{"p", "q", "r"}
	for _, name := range placements {
		h.place(name, onGPU)
	}
	modes := []func(*schemas.Placement){native, inShadow, func(*schemas.Placement) {}}
	h.place("shadow", onGPU, inShadow)
	for range 200 {
		name := names[rng.IntN(len(names))]
		scores[name] = int32(rng.IntN(201) - 100)
		h.score(name, scores[name], time.Hour)
		if rng.IntN(4) == 0 {
			h.place("turns", onGPU, modes[rng.IntN(len(modes))])
		}
		time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
	}
	direct := seed%2 == 0
	h.place("turns", onGPU, map[bool]func(*schemas.Placement){true: modes[2], false: inShadow}[direct])
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	winner := best(names, scores)
	for _, name := range placements {
		linear(t, b, name)
		if got := h.last(name).Clusters[0]; got.Name != winner || got.Score != int64(scores[winner]) {
			t.Errorf("%s selects %v, want %s with %d", name, got, winner, scores[winner])
		}
	}
	lastShadow(t, b, "shadow", winner)
	linear(t, b, "turns")
	if _, ended := shadowsOf(t, b, "turns"); ended != direct {
		t.Errorf("the shadow of turns is at an end: %t, want %t", ended, direct)
	}
	if !direct {
		lastShadow(t, b, "turns", winner)
	} else if got := h.last("turns").Clusters[0].Name; got != winner {
		t.Errorf("turns selects %s, want %s", got, winner)
	}
}
