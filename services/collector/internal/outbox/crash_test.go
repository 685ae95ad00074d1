package outbox

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childEnv turns this test program into one of the writers below.
const childEnv = "OUTBOX_TEST_CHILD"

func TestMain(m *testing.M) {
	if role, dir, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		os.Exit(map[string]func(string) int{"busy": busy, "cramped": cramped}[role](dir))
	}
	os.Exit(m.Run())
}

func child(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+role+":"+dir)
	c.Stderr = t.Output()
	return c
}

// busy stores and removes snapshots until it is killed, and says what it
// did: "stored N", "removing N", "removed N".
func busy(dir string) int {
	s, err := Open(dir, Options{shrinkOver: 1, shrinkRatio: 1, shrinkEvery: time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	e := newEvent(&testing.B{}, alpha, 1, "")
	if err := e.SetData("application/json", []byte(`{"samples":[{"name":"`+strings.Repeat("v", 20_000)+`","value":1}]}`)); err != nil {
		return 1
	}
	for i := 0; ; i++ {
		sequence, err := s.Put(alpha, time.Now(), e)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("stored", sequence)
		if i%3 == 0 {
			continue
		}
		if snapshot, ok := s.TakeSuperseded(none); ok {
			fmt.Println("removing", snapshot.Sequence)
			if err := s.Done(snapshot); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			fmt.Println("removed", snapshot.Sequence)
		}
	}
}

// Invariant 1, for the outbox: a kill at any moment loses nothing that was
// stored, and brings nothing back that was removed.
func TestKill(t *testing.T) {
	t.Parallel()
	const seed = 20261130
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	stored, removing, removed := map[uint64]bool{}, map[uint64]bool{}, map[uint64]bool{}
	for round := range 12 {
		runAndKill(t, dir, 1+random.IntN(60), time.Duration(random.IntN(3000))*time.Microsecond, func(verb string, sequence uint64) {
			switch verb {
			case "stored":
				if stored[sequence] {
					t.Errorf("seed %d round %d: sequence %d twice", seed, round, sequence)
				}
				stored[sequence] = true
			case "removing":
				removing[sequence] = true
			case "removed":
				removed[sequence] = true
			}
		})
		have := contents(t, dir)
		for sequence := range stored {
			if !have[sequence] && !removing[sequence] {
				t.Fatalf("seed %d round %d: %d was stored and is lost", seed, round, sequence)
			}
		}
		for sequence := range removed {
			if have[sequence] {
				t.Fatalf("seed %d round %d: %d was removed and is back", seed, round, sequence)
			}
		}
	}
	if len(stored) < 20 || len(removed) < 5 {
		t.Errorf("only %d stored and %d removed: the test proves little", len(stored), len(removed))
	}
}

// runAndKill kills a busy child some time after its nth line.
func runAndKill(t *testing.T, dir string, lines int, after time.Duration, line func(string, uint64)) {
	t.Helper()
	c := child(t, "busy", dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for n := 1; scanner.Scan(); n++ {
		if n == lines {
			time.AfterFunc(after, func() { _ = c.Process.Kill() })
		}
		verb, number, _ := strings.Cut(scanner.Text(), " ")
		sequence, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			continue // cut by the kill
		}
		line(verb, sequence)
	}
	err = c.Wait()
	if state, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

func contents(t *testing.T, dir string) map[uint64]bool {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatalf("open after a kill: %v", err)
	}
	defer s.Close()
	have := map[uint64]bool{}
	for {
		snapshot, ok := s.TakeSuperseded(none)
		if !ok {
			break
		}
		have[snapshot.Sequence] = true
		s.index.remove(snapshot.Source, snapshot.Sequence) // from memory alone
	}
	if n := s.Stats().Unreadable; n != 0 {
		t.Errorf("%d snapshots are unreadable after a kill: have %v", n, slices.Sorted(maps.Keys(have)))
	}
	return have
}

// cramped stores snapshots where files cannot grow beyond 400 kB.
func cramped(dir string) int {
	fail := func(err error) int { fmt.Println(err); return 1 }
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(dir, Options{})
	if err != nil {
		return fail(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 400 << 10, Max: 400 << 10}); err != nil {
		return fail(err)
	}
	e := newEvent(&testing.B{}, alpha, 1, "")
	if err := e.SetData("application/json", []byte(`{"samples":[{"name":"`+strings.Repeat("v", 20_000)+`","value":1}]}`)); err != nil {
		return fail(err)
	}
	for i := range 100 {
		if _, err := s.Put(alpha, time.Now(), e); err != nil {
			return fail(fmt.Errorf("put %d with superseded snapshots to drop: %w", i, err))
		}
	}
	if stats := s.Stats(); stats.Dropped == 0 {
		return fail(fmt.Errorf("nothing was dropped: %+v", stats))
	}
	// With one current snapshot of many sources nothing may be dropped any
	// more: Put fails, says why, and recovers.
	sources := 0
	for ; err == nil; sources++ {
		_, err = s.Put(Source{"c", fmt.Sprint(sources)}, time.Now(), e)
	}
	if !strings.Contains(err.Error(), "file too large") || s.Err() == nil {
		return fail(fmt.Errorf("error is %w, Err %w", err, s.Err()))
	}
	for i := range sources / 2 {
		snapshot, _ := s.TakeNewest(Source{"c", fmt.Sprint(i)})
		if err := s.Done(snapshot); err != nil {
			return fail(err)
		}
	}
	if _, err := s.Put(beta, time.Now(), e); err != nil || s.Err() != nil {
		return fail(fmt.Errorf("put after room was made: %w, Err %w", err, s.Err()))
	}
	return 0
}

// A full disk, here a limit on the file's size, costs superseded snapshots
// and in the end fails a Put, no more.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := child(t, "cramped", dir).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil || info.Size() > 400<<10 {
		t.Errorf("the file: %v, %v", info.Size(), err)
	}
	if len(contents(t, dir)) == 0 {
		t.Error("nothing is left of what was stored")
	}
}
