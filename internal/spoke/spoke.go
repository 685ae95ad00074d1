// Package spoke is the work that a cluster of the local stack does: a few
// slots that hash data, a queue before them, and a Prometheus endpoint that
// shows both. It stands for whatever runs on a real cluster, so that the
// stack's metrics tell of something that happens.
package spoke

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	blockSize = 64 << 10
	// pause is how long a slot rests after each block, so that busy slots of
	// several spokes do not starve the machine that they share.
	pause = 20 * time.Millisecond
	// maxQueue bounds the jobs that wait.
	maxQueue = 1024
)

// Workload runs jobs in slots.
type Workload struct {
	queue  chan int
	blocks prometheus.Counter

	mu   sync.Mutex
	busy int
}

// New returns a Workload and registers its metrics, all under
// spokewire_spoke_.
func New(registry prometheus.Registerer, slots int) *Workload {
	w := &Workload{
		queue: make(chan int, maxQueue),
		blocks: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "spokewire_spoke_hashed_blocks_total", Help: "Blocks of 64 KiB that the slots have hashed.",
		}),
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	registry.MustRegister(w.blocks,
		gauge("spokewire_spoke_slots_free", "Slots that wait for a job.", func() float64 { return float64(slots - w.busySlots()) }),
		gauge("spokewire_spoke_slots_busy", "Slots that run a job.", func() float64 { return float64(w.busySlots()) }),
		gauge("spokewire_spoke_jobs_queued", "Jobs that wait for a slot.", func() float64 { return float64(len(w.queue)) }),
	)
	return w
}

func (w *Workload) busySlots() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy
}

// Submit queues a job of so many blocks. It reports false if the queue is
// full.
func (w *Workload) Submit(blocks int) bool {
	select {
	case w.queue <- blocks:
		return true
	default:
		return false
	}
}

// Run works in so many slots until ctx ends.
func (w *Workload) Run(ctx context.Context, slots int) {
	var running sync.WaitGroup
	for range slots {
		running.Go(func() { w.slot(ctx) })
	}
	running.Wait()
}

func (w *Workload) slot(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case blocks := <-w.queue:
			w.setBusy(1)
			w.hash(ctx, blocks)
			w.setBusy(-1)
		}
	}
}

func (w *Workload) setBusy(change int) {
	w.mu.Lock()
	w.busy += change
	w.mu.Unlock()
}

// hash chains the digests of so many blocks: each starts with the digest of
// the one before.
func (w *Workload) hash(ctx context.Context, blocks int) {
	block := make([]byte, blockSize)
	for range blocks {
		digest := sha256.Sum256(block)
		copy(block, digest[:])
		w.blocks.Inc()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
