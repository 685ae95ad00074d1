package rig

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/spokewire/spokewire/internal/pause"
)

// Tracker watches the PlacementDecisions of the hub and takes the time of
// each change.
type Tracker struct {
	watch watch.Interface
	done  chan struct{}

	mu      sync.Mutex
	shown   map[string]string // Placement to its first cluster
	waiting *Move
	err     error
}

// Move is a change that is waited for: Placements whose first cluster
// becomes Winner.
type Move struct {
	left   map[string]bool
	winner string
	times  []time.Time
	done   chan struct{}
}

// Track starts to watch. Stop ends it.
func (r *Rig) Track(ctx context.Context) (*Tracker, error) {
	decisions := r.Hub.ClusterV1beta1().PlacementDecisions(Namespace)
	list, err := decisions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	forever := int64((12 * time.Hour).Seconds())
	w, err := decisions.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, TimeoutSeconds: &forever})
	if err != nil {
		return nil, err
	}
	t := &Tracker{watch: w, done: make(chan struct{}), shown: map[string]string{}}
	for i := range list.Items {
		t.see(&list.Items[i], time.Now())
	}
	go t.run()
	return t, nil
}

// Stop ends the watch.
func (t *Tracker) Stop() {
	t.watch.Stop()
	<-t.done
}

func (t *Tracker) run() {
	defer close(t.done)
	for event := range t.watch.ResultChan() {
		now := time.Now()
		if d, ok := event.Object.(*clusterv1beta1.PlacementDecision); ok && event.Type != watch.Deleted {
			t.see(d, now)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = errors.New("the watch of PlacementDecisions ended")
	t.finish()
}

func (t *Tracker) see(d *clusterv1beta1.PlacementDecision, at time.Time) {
	if len(d.Status.Decisions) == 0 {
		return
	}
	placement, cluster := d.Labels[clusterv1beta1.PlacementLabel], d.Status.Decisions[0].ClusterName
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown[placement] = cluster
	if m := t.waiting; m != nil && cluster == m.winner && m.left[placement] {
		delete(m.left, placement)
		m.times = append(m.times, at)
		if len(m.left) == 0 {
			t.finish()
		}
	}
}

// finish ends the waiting; mu is held.
func (t *Tracker) finish() {
	if t.waiting != nil {
		close(t.waiting.done)
		t.waiting = nil
	}
}

// Expect begins to wait for a move of those of the Placements that do not
// show the winner yet. One move is waited for at a time.
func (t *Tracker) Expect(placements []string, winner string) *Move {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &Move{left: map[string]bool{}, winner: winner, done: make(chan struct{})}
	for _, p := range placements {
		if t.shown[p] != winner {
			m.left[p] = true
		}
	}
	t.waiting = m
	if len(m.left) == 0 || t.err != nil {
		t.finish()
	}
	return m
}

// Wait returns when the first and the last of the Placements moved, and how
// many did.
func (t *Tracker) Wait(ctx context.Context, m *Move, most time.Duration) (first, last time.Time, moved int, err error) {
	ctx, cancel := pause.Within(ctx, most)
	defer cancel()
	select {
	case <-m.done:
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return time.Time{}, time.Time{}, 0, t.err
	case len(m.left) > 0:
		t.waiting = nil
		return time.Time{}, time.Time{}, len(m.times), fmt.Errorf("%d Placements did not move to %s: %w", len(m.left), m.winner, pause.Why(ctx))
	case len(m.times) == 0:
		return time.Time{}, time.Time{}, 0, nil
	}
	return m.times[0], m.times[len(m.times)-1], len(m.times), nil
}
