package work

import (
	"context"
	"sync"
	"time"
)

// Gate lets less urgent work step back while urgent work is under way.
type Gate struct {
	mu   sync.Mutex
	busy int
	idle chan struct{} // closed when busy falls to 0
}

// Enter marks the begin of urgent work; call the result at its end.
func (g *Gate) Enter() (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy == 0 {
		g.idle = make(chan struct{})
	}
	g.busy++
	return g.leave
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	if g.busy == 0 {
		close(g.idle)
	}
}

// Yield waits until no urgent work is under way, for at most that long, so
// that urgent work without end does not starve the rest.
func (g *Gate) Yield(ctx context.Context, most time.Duration) {
	g.mu.Lock()
	busy, idle := g.busy, g.idle
	g.mu.Unlock()
	if busy == 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-ctx.Done():
	}
}
