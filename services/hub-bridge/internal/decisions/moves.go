package decisions

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spokewire/spokewire/internal/bridge"
	"github.com/spokewire/spokewire/internal/placement"
)

// How often the hub is asked whether the clusters of a move have arrived.
const (
	firstArrivalPoll = 200 * time.Millisecond
	lastArrivalPoll  = 2 * time.Second
)

// moves remembers, of each Placement that wants one, the move that is on its
// way.
type moves struct {
	mu   sync.Mutex
	last map[string]move // by subject
}

type move struct {
	overlap bridge.Overlap
	poll    time.Duration // the last one
}

func newMoves() *moves { return &moves{last: map[string]move{}} }

// get returns the last move of subject, and whether there was a look at it
// before.
func (m *moves) get(subject string) (move, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.last[subject]
	return known, ok
}

func (m *moves) put(subject string, known move) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last[subject] = known
}

func (m *moves) forget(subject string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.last, subject)
}

// move returns which clusters stay beside those of groups for now, and after
// how long to look again, 0 for never. What it remembers is the move as it was
// before that: if the writes fail, the next attempt comes to the same end.
func (a *Applier) move(ctx context.Context, w *writes, stock bridge.Stock, groups []bridge.Group) (bridge.Overlap, time.Duration) {
	subject, limit := w.entry.Subject, placement.Overlap(w.placement.Annotations)
	if limit == 0 {
		a.moves.forget(subject)
		return bridge.Overlap{}, 0
	}
	before, looked := a.moves.get(subject)
	at := a.Clock.Now()
	if !looked {
		at = w.entry.ReceivedAt // what stands may have stood since then
	}
	now := move{overlap: before.overlap.Begin(stock, groups, at, !looked), poll: firstArrivalPoll}
	left := now.overlap
	// Those that arrive are written first, and asked for afterwards.
	if now.overlap.Written(stock) {
		now.poll = min(max(2*before.poll, firstArrivalPoll), lastArrivalPoll)
		left = now.overlap.End(a.rollouts(ctx, w, now.overlap.Clusters()), limit, a.Clock.Now(), a.Hub.KeepsCluster)
	}
	a.moves.put(subject, now)
	if len(left.Leaving) == 0 {
		return left, 0
	}
	again := now.poll + rand.N(now.poll/4)
	if next := left.Next(limit); !next.IsZero() {
		again = max(time.Millisecond, min(again, next.Sub(a.Clock.Now())))
	}
	return left, again
}

// rollouts are none where the hub does not say: then time decides.
func (a *Applier) rollouts(ctx context.Context, w *writes, clusters []string) []bridge.Rollout {
	rollouts, err := a.Hub.Rollouts(ctx, w.placement.Namespace, w.placement.Name, clusters)
	if err != nil && !a.silent.Swap(true) {
		a.Log.Warn("cannot see whether workloads have arrived; clusters that leave stay for the whole overlap", "placement", w.placement.Namespace+"/"+w.placement.Name, "error", err)
	}
	if err == nil {
		a.silent.Store(false)
	}
	return rollouts
}
