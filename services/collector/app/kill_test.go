package app

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/process"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/pkg/events/eventstest"
)

// childEnv turns this test program into a collector, with the arguments in
// it.
const childEnv = "COLLECTOR_TEST_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		c := Command()
		c.SetArgs(strings.Split(args, "\n"))
		os.Exit(process.Main(c))
	}
	os.Exit(m.Run())
}

// Invariant 1, for a collector: it is killed at random moments while it
// scrapes and forwards; every snapshot that it stored is on one of the
// streams in the end, and what a restart finds is never current again.
func TestKill(t *testing.T) {
	t.Parallel()
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 0))
	nats := eventstest.RunServer(t)
	bus := connect(t, nats.URL())
	if err := bus.EnsureStreams(t.Context(), unbounded()); err != nil {
		t.Fatal(err)
	}
	target, scrapes := target(t)
	args := []string{
		"--cluster=spoke-1", "--source=node", "--target=" + target, "--interval=100ms", "--listen=", "--log-level=error",
		"--outbox=" + t.TempDir(), "--nats-url=" + nats.URL(),
	}
	run := func() *exec.Cmd {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), childEnv+"="+strings.Join(args, "\n"))
		c.Stderr = t.Output()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range 6 {
		c := run()
		before, more := scrapes.Load(), int64(1+random.IntN(4))
		testwait.Eventually(t, "some scrapes", func() bool { return scrapes.Load() >= before+more })
		// From here on the snapshot is on its way into the outbox, and out.
		timer := time.NewTimer(time.Duration(random.IntN(5000)) * time.Microsecond)
		<-timer.C
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // killed
	}
	c := run()
	before := scrapes.Load()
	testwait.Eventually(t, "the last collector has caught up", func() bool {
		have := sequences(t, stored(t, bus, events.StreamMetrics), stored(t, bus, events.StreamBackfill))
		for n := uint64(1); n <= uint64(len(have)); n++ {
			if have[n] == 0 {
				return false
			}
		}
		return scrapes.Load() >= before+3 && len(have) > 0
	})
	_ = c.Process.Kill()
	_ = c.Wait()
	last := uint64(0)
	for _, r := range stored(t, bus, events.StreamMetrics) {
		n := sequence(t, r)
		if n <= last {
			t.Errorf("seed %d: %d comes after %d on SW_METRICS", seed, n, last)
		}
		last = n
	}
	for n, times := range sequences(t, stored(t, bus, events.StreamBackfill)) {
		if times > 1 {
			t.Errorf("seed %d: %d is on SW_BACKFILL %d times", seed, n, times)
		}
	}
}

func sequence(t *testing.T, r events.Received) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(fmt.Sprint(r.Event.Extensions()[events.ExtSequence]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sequences counts how often each is there.
func sequences(t *testing.T, streams ...[]events.Received) map[uint64]int {
	t.Helper()
	count := map[uint64]int{}
	for _, all := range streams {
		for _, r := range all {
			count[sequence(t, r)]++
		}
	}
	return count
}
