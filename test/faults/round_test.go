package faults

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/stack"
	"github.com/spokewire/spokewire/internal/testwait"
	"github.com/spokewire/spokewire/pkg/events"
	"github.com/spokewire/spokewire/test/e2e/fold"
)

// scenario is one way to break things.
type scenario struct {
	name string
	// bound is how soon, after the fault has ended and the last metric was
	// published, the hub must be what the log says.
	bound time.Duration
	// longBound is that of the long form, zero for the same.
	longBound time.Duration
	// again has every event published twice.
	again bool
	// strike breaks something and mends it again.
	strike func(t *testing.T, r *round)
}

// round is one scenario being played.
type round struct {
	*world
	scenario
	random  *rand.Rand
	long    bool
	started time.Time
	traffic *traffic
	// before is what the services had counted when it began.
	before map[string]count

	// lost is a span in which what was acknowledged may have been lost with
	// the tail of a store; none where lost.to is zero.
	lost struct{ from, to time.Time }
	// seen is what was read of the spokes' snapshots on the way.
	seen fold.Evidence
	// dropped: an outbox had to drop snapshots, and said so.
	dropped bool
}

// pick is a duration for the long version and one for the short one.
func (r *round) pick(long, short time.Duration) time.Duration {
	if r.long {
		return long
	}
	return short
}

// moment is a random duration below limit.
func (r *round) moment(limit time.Duration) time.Duration {
	return time.Duration(r.random.Int64N(int64(limit)))
}

// play plays a scenario and checks what must hold.
func play(t *testing.T, w *world, s scenario, seed uint64, long bool) {
	h := fnv.New64a()
	fmt.Fprint(h, s.name)
	r := &round{world: w, scenario: s, random: rand.New(rand.NewPCG(seed, h.Sum64())), long: long, started: time.Now()}
	if long {
		r.bound = cmp.Or(s.longBound, s.bound)
	}
	prefix := fmt.Sprintf("r%x-", r.started.UnixMicro())
	r.before = w.counts(t)
	r.traffic = &traffic{bus: w.bus, seed: seed, prefix: prefix, again: s.again, pauses: true, requests: true}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.traffic.start(t.Context())
	in := intrude(ctx, t, w, prefix)
	wait(t, 200*time.Millisecond+r.moment(500*time.Millisecond))
	s.strike(t, r)
	struck := time.Since(r.started)
	wait(t, 300*time.Millisecond)
	r.traffic.ample(t)
	r.traffic.stop()
	r.bad = append(r.bad, r.traffic.bad...)
	cancel()
	<-in.done
	r.traffic.enough(t)
	quiet := time.Now()
	r.converges(t)
	settled := time.Since(quiet)
	made := r.check(t, in.ids)
	t.Logf("struck for %s, hub equals the log after %s, %d events acknowledged, %d bad, %d decisions and scores made again, round took %s",
		struck.Round(time.Millisecond), settled.Round(time.Millisecond), len(r.traffic.acked), len(r.traffic.bad), made, time.Since(r.started).Round(time.Millisecond))
}

// converges checks invariants 1 and 2: the hub becomes what the log says,
// within the bound.
func (r *round) converges(t *testing.T) {
	t.Helper()
	differs := ""
	check := func() string {
		differs = r.differs(t.Context())
		return differs
	}
	if left := testwait.Until(t.Context(), r.bound, check); left != "" {
		t.Errorf("invariant 2: not within %s: %s", r.bound, left)
		if left := testwait.Until(t.Context(), time.Minute, check); left != "" {
			t.Errorf("invariant 1: nor within a minute: %s", left)
		}
	}
}

// differs compares the hub with both folds of the log.
func (r *round) differs(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	log, err := fold.Read(ctx, r.bus, events.StreamMetrics, events.StreamScores, events.StreamDecisions)
	if err != nil {
		return err.Error()
	}
	got, err := load.OnHub(ctx, r.ocm)
	if err != nil {
		return err.Error()
	}
	return load.Differs(got, log, time.Now())
}

// letterBound is how soon bad events are among the dead letters, and what
// waited in an outbox in SW_BACKFILL: an attempt to write that is never
// answered, as by a raft leader that is no more, is repeated after 5 s.
const letterBound = 30 * time.Second

// check checks the other invariants, and returns how many scores and
// decisions it could make again.
func (r *round) check(t *testing.T, forged map[string]bool) int {
	t.Helper()
	since := r.started
	if !r.lost.to.IsZero() {
		since = r.lost.to // what was decided before may rest on what is gone
	}
	evidence := fold.Evidence{}
	var found []fold.Violation
	unfinished := testwait.Until(t.Context(), letterBound, func() string {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var err error
		if evidence, err = r.gather(ctx); err != nil {
			return err.Error()
		}
		found = append(fold.Buried(evidence.Since(since), r.bad), r.counted(t, evidence)...)
		if !r.dropped {
			found = append(found, fold.Gaps(evidence.Union(r.seen).Since(r.lost.to))...)
		}
		// It may still be on its way, and what is removed meanwhile counts for
		// a reader that began before.
		if early := slices.Concat(found, fold.Sizes(evidence)); len(early) > 0 {
			return early[0].String()
		}
		return ""
	})
	if unfinished != "" {
		t.Errorf("not within %s: %s", letterBound, unfinished)
	}
	made, violations := r.judge(evidence, since, forged)
	found = append(found, violations...)
	for _, v := range found {
		t.Error(v)
	}
	if made == 0 {
		t.Error("no score and no decision could be made again: the check means nothing")
	}
	r.memory(t)
	return made
}

// gather reads what is judged. Of what spokes publish, the round's own
// events are enough.
func (r *round) gather(ctx context.Context) (fold.Evidence, error) {
	evidence, err := fold.Gather(ctx, r.bus, time.Time{}, events.StreamScores, events.StreamDecisions, events.StreamReceipts)
	if err != nil {
		return nil, err
	}
	recent, err := fold.Gather(ctx, r.bus, r.started, events.StreamMetrics, events.StreamBackfill, events.StreamDead, events.StreamHub, events.StreamConfig)
	if err != nil {
		return nil, err
	}
	for stream, messages := range recent {
		evidence[stream] = messages
	}
	return evidence, nil
}

func (r *round) judge(evidence fold.Evidence, since time.Time, forged map[string]bool) (made int, found []fold.Violation) {
	mayMiss := func(a fold.Acked) bool { return a.At.After(r.lost.from) && a.At.Before(r.lost.to) }
	made, found = judge(evidence, since, !r.lost.to.IsZero(), r.traffic.audits(), mayMiss)
	if r.lost.to.IsZero() {
		// In an earlier round the log may have lost its end.
		found = append(found, fold.Ordered(evidence.Since(r.started))...)
	}
	return made, append(found, fold.Forged(evidence, forged)...)
}

// judge checks what can be seen in the log alone, which is torn if it lost its
// end.
func judge(evidence fold.Evidence, since time.Time, torn bool, audits []fold.Acked, mayMiss func(fold.Acked) bool) (made int, found []fold.Violation) {
	found = append(found, fold.Lost(evidence, audits, mayMiss)...)
	for _, rule := range []fold.Rule{load, brief} {
		n, violations := rule.Replays(evidence, since, torn)
		made, found = made+n, append(found, violations...)
		n, violations = rule.Scores(evidence, since)
		made, found = made+n, append(found, violations...)
		found = append(found, rule.Linear(evidence, since)...)
	}
	return made, append(found, fold.Sizes(evidence)...)
}

// maxMemory is what a process may have in memory at three clusters, a long
// run included; invariant 7 at 10,000 clusters is measured by the benchmarks.
// A NATS server may have twice that: it caches what it sends to one that was
// away.
const maxMemory = 256 << 20 * raceFactor

func (r *round) memory(t *testing.T) {
	t.Helper()
	for _, name := range r.stack.Processes() {
		if name == stack.ProcessAPIServer || name == stack.ProcessEtcd {
			continue // not ours
		}
		allowed := int64(maxMemory)
		if strings.HasPrefix(name, stack.ProcessNATS) {
			allowed *= 2
		}
		if peak := peakMemory(r.stack.PID(name)); peak > allowed {
			t.Errorf("invariant 7: %s has had %d MiB in memory, at most %d are allowed", name, peak>>20, allowed>>20)
		}
	}
}
