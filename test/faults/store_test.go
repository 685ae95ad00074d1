package faults

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spokewire/spokewire/pkg/events"
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
		t.Logf("lost what was stored from %s to %s", r.lost.from.Format(time.RFC3339Nano), r.lost.to.Format(time.RFC3339Nano))
		must(t, r.stack.Continue(t.Context(), "nats"))
		wait(t, time.Second)
	}}
}

// truncateNATS tears the end off the newest block of some streams. What
// people asked for, SW_CONFIG, is spared: nobody but they could say it again.
func truncateNATS() scenario {
	return scenario{name: "truncate-nats", bound: 20 * time.Second, strike: func(t *testing.T, r *round) {
		must(t, r.stack.Crash("nats"))
		torn := 0
		for _, block := range newestBlocks(t, r.stack.NATSStore("nats")) {
			info, err := os.Stat(block)
			must(t, err)
			if info.Size() == 0 || r.random.IntN(3) == 0 || strings.Contains(block, events.StreamConfig) {
				continue
			}
			must(t, os.Truncate(block, max(0, info.Size()-1-r.random.Int64N(4096))))
			torn++
		}
		t.Logf("tore %d blocks", torn)
		r.lost.to = time.Now() // whatever was in the torn blocks
		must(t, r.stack.Continue(t.Context(), "nats"))
		wait(t, time.Second)
	}}
}

// newestBlocks are the files that the streams grow in, sorted.
func newestBlocks(t *testing.T, store string) []string {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(store, "jetstream", "*", "streams", "*", "msgs", "*.blk"))
	must(t, err)
	newest := map[string]string{} // by directory; the blocks are numbered
	for _, block := range blocks {
		dir := filepath.Dir(block)
		if old := newest[dir]; len(old) < len(block) || len(old) == len(block) && old < block {
			newest[dir] = block
		}
	}
	return slices.Sorted(maps.Values(newest))
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
