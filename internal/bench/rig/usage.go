package rig

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spokewire/spokewire/internal/bench/proc"
	"github.com/spokewire/spokewire/internal/stack"
)

// Bench is the name of this process among the others.
const Bench = "bench"

// processes are the stack's, the hub's and this one.
func (r *Rig) processes() map[string]int {
	out := map[string]int{Bench: os.Getpid()}
	children := proc.Children()
	for _, name := range []string{Hub, "etcd"} {
		if pid, ok := children[name]; ok {
			out[name] = pid
		}
	}
	for _, name := range r.Processes() {
		out[name] = r.PID(name)
	}
	return out
}

// Usage is the processor time of each process so far, and when it was read.
type Usage struct {
	at  time.Time
	cpu map[string]time.Duration
}

// Usage reads it. Processes that do not run are left out.
func (r *Rig) Usage() Usage {
	u := Usage{at: time.Now(), cpu: map[string]time.Duration{}}
	for name, pid := range r.processes() {
		if used, err := proc.CPU(pid); err == nil {
			u.cpu[name] = used
		}
	}
	return u
}

// Cores is how many cores a process used between two readings, on average.
func (u Usage) Cores(since Usage, name string) float64 {
	return (u.cpu[name] - since.cpu[name]).Seconds() / u.at.Sub(since.at).Seconds()
}

// Names are the processes of a reading, sorted.
func (u Usage) Names() []string { return slices.Sorted(maps.Keys(u.cpu)) }

// CPU is what a process used between two readings.
func (u Usage) CPU(since Usage, name string) time.Duration { return u.cpu[name] - since.cpu[name] }

// Elapsed is the time between two readings.
func (u Usage) Elapsed(since Usage) time.Duration { return u.at.Sub(since.at) }

// Memory reads what a process occupies.
func (r *Rig) Memory(name string) (proc.Memory, error) {
	pid, ok := r.processes()[name]
	if !ok {
		return proc.Memory{}, fmt.Errorf("the stack has no process %s", name)
	}
	return proc.MemoryOf(pid)
}

const (
	quietWithin = 5 * time.Minute
	quietPause  = 400 * time.Millisecond
	// quietCores is what a process uses that has nothing to do.
	quietCores = 0.05
)

// Quiet waits until none of the processes does anything worth mentioning.
func (r *Rig) Quiet(ctx context.Context, names ...string) error {
	before := r.Usage()
	return Poll(ctx, fmt.Sprintf("%v have no more to do", names), quietWithin, quietPause, func() (bool, error) {
		now := r.Usage()
		since := before
		if now.Elapsed(since) < quietPause/2 {
			return false, nil
		}
		before = now
		for _, name := range names {
			if now.Cores(since, name) > quietCores {
				return false, nil
			}
		}
		return true, nil
	})
}

// Everything names the processes that are quiet once all is settled, OCM's
// apart.
func (r *Rig) Everything() []string {
	names := []string{stack.ProcessNATS}
	for _, name := range Services() {
		if r.Health(name) != "" {
			names = append(names, name)
		}
	}
	return names
}
