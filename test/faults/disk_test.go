package faults

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// fullOutbox fills the disk under a collector's outbox while the collector
// is cut off. The outbox then drops the oldest of its backlog for the newest;
// once there is room, it keeps everything again.
func fullOutbox() scenario {
	return scenario{name: "disk-full-outbox", bound: 5 * time.Second, strike: func(t *testing.T, r *round) {
		r.dropped = true
		cluster := load.Clusters[r.random.IntN(len(load.Clusters))]
		link := r.links[cluster]
		link.Cut()
		wait(t, r.pick(10*time.Second, time.Second))
		restore := fill(t, r.stack.Outbox(cluster), r.stack.PID("collector-"+cluster))
		wait(t, r.pick(20*time.Second, 2*time.Second))
		restore()
		room := time.Now()
		wait(t, 2*time.Second)
		link.Restore()
		back := time.Now()
		left := testwait.Until(t.Context(), 20*time.Second, func() string {
			evidence, err := fold.Gather(t.Context(), r.bus, room, events.StreamMetrics, events.StreamBackfill)
			if err != nil {
				return err.Error()
			}
			return fold.Backlog(evidence, cluster, workload, room.Add(time.Second), back.Add(-time.Second))
		})
		if left != "" {
			t.Errorf("invariant 1: %s", left)
		}
	}}
}

// fullNATS fills the disk under the streams. The server does not take it
// well, so it is started again once there is room: what an operator does.
func fullNATS() scenario {
	return scenario{name: "disk-full-nats", bound: 15 * time.Second, strike: func(t *testing.T, r *round) {
		restore := fill(t, r.stack.NATSStore("nats"), r.stack.PID("nats"))
		wait(t, r.pick(20*time.Second, 2*time.Second))
		restore()
		must(t, r.stack.Kill("nats"))
		wait(t, time.Second)
	}}
}

// smallDisk puts a small file system under a directory, where this user may
// mount one.
func smallDisk(t *testing.T, dir, size string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
	if errors.Is(err, syscall.EPERM) {
		return // fill limits the size of files instead
	}
	must(t, err)
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// fill leaves no room in a directory: by a large file where it has a small
// disk of its own, otherwise by a limit on the size of the process's files.
// The returned function makes room again.
func fill(t *testing.T, dir string, pid int) (restore func()) {
	t.Helper()
	if !ownDisk(t, dir) {
		return limitFiles(t, pid)
	}
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	must(t, err)
	defer ballast.Close()
	block := make([]byte, 1<<16)
	for len(block) > 0 {
		if _, err := ballast.Write(block); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			block = block[:len(block)/2]
		}
	}
	return func() { must(t, os.Remove(ballast.Name())) }
}

func ownDisk(t *testing.T, dir string) bool {
	t.Helper()
	here, err := os.Stat(dir)
	must(t, err)
	above, err := os.Stat(filepath.Dir(dir))
	must(t, err)
	return here.Sys().(*syscall.Stat_t).Dev != above.Sys().(*syscall.Stat_t).Dev
}

// limitFiles makes every write that would enlarge a file fail.
func limitFiles(t *testing.T, pid int) (restore func()) {
	t.Helper()
	var old syscall.Rlimit
	must(t, limitFileSize(pid, nil, &old))
	must(t, limitFileSize(pid, &syscall.Rlimit{Cur: 0, Max: old.Max}, nil))
	return func() {
		if err := limitFileSize(pid, &old, nil); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Error(err)
		}
	}
}
