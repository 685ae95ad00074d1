package faults

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/spokewire/spokewire/internal/stack"
)

// stage is a world and what can be played in it.
type stage struct {
	name      string
	change    func(*stack.Options)
	scenarios []scenario
}

func stages() []stage {
	return []stage{
		{
			name:      "replicas",
			change:    func(o *stack.Options) { o.Replicas = 2 },
			scenarios: []scenario{calm(), twice(), killServices(), killNATS(), stopNATS(), restoreNATS(), truncateNATS(), killAPIServer(), killEtcd(), apiGone(), apiSlow(), apiRefuses(), cutSpoke(), fullOutbox(), fullNATS(), stealLease(), deleteLease(), pauseLeader()},
		},
		{
			name:      "cluster",
			change:    func(o *stack.Options) { o.Servers, o.Interval = 3, time.Second },
			scenarios: []scenario{loseFollower(), loseLeader()},
		},
	}
}

// TestFaults plays each scenario once, in its short form. With MINUTES it
// plays random ones, in their long form, until the time is up. SEED repeats a
// run; SCENARIO names the only one to play.
func TestFaults(t *testing.T) {
	t.Logf("SEED=%d repeats this run", played.seed)
	if played.long() {
		playRandom(t, time.Now().Add(played.minutes))
		return
	}
	t.Parallel() // most of it is waiting
	for _, st := range stages() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			for left := chosen(st.scenarios); len(left) > 0; { // a failure leaves no world to go on in
				st.play(t, "world", func(w *world, t *testing.T) {
					for ; len(left) > 0 && !t.Failed(); left = left[1:] {
						playOne(t, w, left[0], played.seed)
					}
				})
			}
		})
	}
}

// chosen are the scenarios that SCENARIO lets through.
func chosen(all []scenario) []scenario {
	only := os.Getenv("SCENARIO")
	return slices.DeleteFunc(all, func(s scenario) bool { return only != "" && s.name != only })
}

// roundsInOneWorld is how many scenarios are played before all is started
// anew.
const roundsInOneWorld = 12

// playRandom plays rounds until the deadline, each with a seed of its own.
func playRandom(t *testing.T, deadline time.Time) {
	random := rand.New(rand.NewPCG(played.seed, 0))
	for time.Now().Before(deadline) {
		all := stages()
		st := all[0]
		if random.IntN(4) == 0 {
			st = all[1]
		}
		if st.scenarios = chosen(st.scenarios); len(st.scenarios) == 0 {
			continue
		}
		st.play(t, st.name, func(w *world, t *testing.T) {
			for n := 0; n < roundsInOneWorld && time.Now().Before(deadline) && !t.Failed(); n++ {
				playOne(t, w, st.scenarios[random.IntN(len(st.scenarios))], random.Uint64())
			}
		})
	}
}

// play runs the stage's world for as long as do takes.
func (st stage) play(t *testing.T, name string, do func(*world, *testing.T)) {
	t.Run(name, func(t *testing.T) {
		do(startWorld(t, st.change), t)
	})
}

func playOne(t *testing.T, w *world, s scenario, seed uint64) {
	ok := t.Run(s.name, func(t *testing.T) { play(t, w, s, seed, played.long()) })
	played.rounds.Add(1)
	if !ok {
		played.violations.Add(1)
		t.Logf("SEED=%d SCENARIO=%s repeats this round", seed, s.name)
	}
}
