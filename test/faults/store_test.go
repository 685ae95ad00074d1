package faults

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// stopNATS stops the server in good order and starts it again.
func stopNATS() scenario {
	return scenario{name: "stop-nats", bound: 10 * time.Second, strike: func(t *testing.T, r *round) {
		must(t, r.stack.Halt("nats"))
		wait(t, r.pick(15*time.Second, 2*time.Second))
		must(t, r.stack.Continue(t.Context(), "nats"))
	}}
}

// restoreNATS loses what the server stored in a while: its store is copied,
// and the copy put back after the server was killed. That is a restored
// backup, or a power cut before the disk was synced.
func restoreNATS() scenario {
	return scenario{name: "restore-nats", bound: 20 * time.Second, strike: func(t *testing.T, r *round) {
		store := r.stack.NATSStore("nats")
		copied := filepath.Join(t.TempDir(), "store")
		r.lost.from = time.Now()
		must(t, r.stack.Signal("nats", syscall.SIGSTOP))
		err := os.CopyFS(copied, os.DirFS(store))
		must(t, r.stack.Signal("nats", syscall.SIGCONT))
		must(t, err)
		wait(t, 500*time.Millisecond+r.moment(time.Second))
		must(t, r.stack.Crash("nats"))
		must(t, empty(store))
		must(t, os.CopyFS(store, os.DirFS(copied)))
		r.lost.to = time.Now()
		must(t, r.stack.Continue(t.Context(), "nats"))
		wait(t, time.Second)
	}}
}

// truncateNATS tears the end off the newest block of some streams.
func truncateNATS() scenario {
	return scenario{name: "truncate-nats", bound: 20 * time.Second, strike: func(t *testing.T, r *round) {
		r.lost.from = time.Time{} // whatever was in the torn blocks
		must(t, r.stack.Crash("nats"))
		blocks, err := filepath.Glob(filepath.Join(r.stack.NATSStore("nats"), "jetstream", "*", "streams", "*", "msgs", "*.blk"))
		must(t, err)
		torn := 0
		newest := map[string]string{}
		for _, block := range blocks { // sorted within each directory, but by text
			dir := filepath.Dir(block)
			if old := newest[dir]; len(old) < len(block) || len(old) == len(block) && old < block {
				newest[dir] = block
			}
		}
		slices.Sort(blocks)
		for _, block := range blocks {
			if newest[filepath.Dir(block)] != block || r.random.IntN(3) == 0 {
				continue
			}
			info, err := os.Stat(block)
			must(t, err)
			if info.Size() > 0 {
				must(t, os.Truncate(block, max(0, info.Size()-1-r.random.Int64N(4096))))
				torn++
			}
		}
		if torn == 0 {
			t.Error("no block was torn")
		}
		r.lost.to = time.Now()
		must(t, r.stack.Continue(t.Context(), "nats"))
		wait(t, time.Second)
	}}
}

// empty removes what is in a directory.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
