// Package roster is how the engine, which reads all metrics, tells whoever
// else scores clusters which of them have any.
package roster

import "sync"

// Roster holds the clusters that have metrics. It is safe for concurrent use.
type Roster struct {
	mu      sync.Mutex
	names   map[string]bool
	changed map[string]bool // since Take
	signal  chan struct{}
}

// New returns an empty Roster.
func New() *Roster {
	return &Roster{names: map[string]bool{}, changed: map[string]bool{}, signal: make(chan struct{}, 1)}
}

// Set says whether a cluster has metrics.
func (r *Roster) Set(cluster string, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[cluster] == has {
		return
	}
	if has {
		r.names[cluster] = true
	} else {
		delete(r.names, cluster)
	}
	r.changed[cluster] = true
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// Changed receives when there is something to Take.
func (r *Roster) Changed() <-chan struct{} { return r.signal }

// Take returns the clusters that changed since the last call, and whether
// each has metrics.
func (r *Roster) Take() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]bool, len(r.changed))
	for cluster := range r.changed {
		out[cluster] = r.names[cluster]
	}
	clear(r.changed)
	return out
}
