package scale

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/bench/rig"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/schemas"
)

// restart kills every service at once and publishes a metric that makes
// another cluster the best; what has to come of it is known.
func (m *runner) restart(ctx context.Context) error {
	time.Sleep(calm)
	value, winner := float64(high), contender
	if m.up {
		value, winner = 0, rival
	}
	m.up = !m.up
	decided, stop := m.watchDecisions(ctx, winner)
	defer stop()
	move := m.tracker.Expect(m.placements, winner)
	began := time.Now()
	for _, name := range rig.Services() {
		if err := m.rig.Kill(name); err != nil {
			return err
		}
	}
	if err := m.publish(ctx, contender, value); err != nil {
		return err
	}
	profiled := m.rig.Profile(ctx, fmt.Sprintf("cold-%d", len(m.ready)), atMostSeconds*time.Second, append(rig.Services(), rig.Hub)...)
	var group sync.WaitGroup
	var ready error
	var readyAt time.Time
	group.Go(func() {
		for _, name := range rig.Services() {
			ready = errors.Join(ready, m.rig.Ready(ctx, name))
		}
		readyAt = time.Now()
	})
	_, last, _, err := m.tracker.Wait(ctx, move, patience)
	group.Wait()
	if err := errors.Join(err, ready, profiled()); err != nil {
		return err
	}
	m.ready = append(m.ready, readyAt.Sub(began).Seconds())
	m.decision = append(m.decision, (<-decided).Sub(began).Seconds())
	m.applied = append(m.applied, last.Sub(began).Seconds())
	return nil
}

// watchDecisions takes the time of the first decision for the winner.
func (m *runner) watchDecisions(ctx context.Context, winner string) (<-chan time.Time, func()) {
	ctx, cancel := context.WithCancel(ctx)
	first, done := make(chan time.Time, 1), make(chan struct{})
	synced := make(chan struct{})
	go func() {
		defer close(done)
		old := true
		_ = m.rig.Bus.Watch(ctx, events.Watch{Stream: events.StreamDecisions}, func(u events.Update) error { // ends with ctx
			switch {
			case u.Kind == events.Synced && old:
				old = false
				close(synced)
			case u.Kind == events.Stored && !old && chooses(u.Message, winner):
				first <- time.Now()
				return context.Canceled
			}
			return nil
		})
	}()
	select {
	case <-synced:
	case <-ctx.Done():
	}
	return first, func() {
		cancel()
		<-done
	}
}

func chooses(m events.Message, winner string) bool {
	r, err := events.Read(m)
	if err != nil {
		return false
	}
	d, ok := r.Payload.(*schemas.PlacementDecision)
	return ok && len(d.Clusters) > 0 && d.Clusters[0].Name == winner
}
